import type { AuditEntry } from "../contract/audit.ts";
import { problem } from "../contract/errors.ts";
import type { Log } from "../lib/log.ts";
import type { Store } from "../store/port.ts";

export interface AccessLog {
  /** @throws Problem `unavailable` while entries wait that cannot be written, as many as may */
  expectRoom(): void;
  /** Takes an entry off the request's path; waits only while the queue is full. */
  record(entry: AuditEntry): Promise<void>;
  /** Writes what is queued. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const intervalMs = 400;
export const maxQueued = 5_000;

/** Records requests that changed nothing, and when tokens were last used, in batches (specification 1). */
export function createAccessLog(store: Store, log: Log): AccessLog {
  let queued: AuditEntry[] = [];
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let troubled = false;

  async function write(): Promise<void> {
    const entries = queued;
    queued = [];
    if (entries.length === 0) return;
    const uses = new Map(
      entries.flatMap((entry) => (entry.tokenId ? [[entry.tokenId, entry.occurredAt] as const] : [])),
    );
    try {
      await store.appendAccess(entries);
      await store.touchTokens(uses);
      troubled = false;
    } catch (error) {
      // Kept for the next attempt: an audit trail with holes is none. The bound on the queue holds the callers back.
      queued = entries.concat(queued);
      // Once, not every time that it is tried.
      if (!troubled) log.error({ err: error }, "The access log cannot be written");
      troubled = true;
    }
  }

  async function flush(): Promise<void> {
    while (writing) await writing;
    writing = write().finally(() => {
      writing = undefined;
    });
    await writing;
  }

  async function record(entry: AuditEntry): Promise<void> {
    queued.push(entry);
    scheduleFlush();
    if (queued.length >= maxQueued) await flush();
  }

  function requireRoom(): void {
    if (queued.length >= 2 * maxQueued) throw problem("unavailable", { retryAfterSeconds: 60 });
  }

  function scheduleFlush(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void flush().then(() => queued.length > 0 && scheduleFlush());
    }, intervalMs);
  }

  async function close(): Promise<void> {
    clearTimeout(timer);
    await flush();
  }

  return { expectRoom: requireRoom, record, flush, close };
}
