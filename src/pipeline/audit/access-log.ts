import type { AuditEntry } from "../../contract/audit.ts";
import { problem } from "../../contract/errors.ts";
import type { Log } from "../../lib/log.ts";
import { LogOnce } from "../../lib/log-once.ts";
import type { Store } from "../../store/port.ts";

export interface AccessLog {
  /** @throws Problem `unavailable` if the queue is full because entries cannot be written */
  expectRoom(): void;
  /** Queues an entry, so that the request does not wait for the write; waits only while the queue is full. */
  record(entry: AuditEntry): Promise<void>;
  /** Writes the queued entries. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const intervalMs = 400;
export const maxQueued = 5_000;

/** Records requests that changed nothing, and the last use of tokens, in batches (specification 1). */
export function createAccessLog(store: Store, log: Log): AccessLog {
  let queued: AuditEntry[] = [];
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const failures = new LogOnce();

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
      failures.reset();
    } catch (error) {
      // Entries are never dropped, or the audit trail would have gaps. The bound on the queue holds callers back.
      queued = entries.concat(queued);
      if (failures.isDue()) log.error({ err: error }, "The access log cannot be written");
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

  function expectRoom(): void {
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

  return { expectRoom, record, flush, close };
}
