import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Answer, callRest, callTool, type Door } from "./client.ts";
import type { Installation } from "./program.ts";

/** One attempt at a call, at the moment of its answer. */
interface Attempt {
  readonly atMs: number;
  readonly durationMs: number;
  readonly ok: boolean;
  readonly seen: string;
  readonly isRead: boolean;
}

export interface LoadOptions {
  readonly writers?: number;
  readonly readers?: number;
  readonly pauseMs?: number;
  /** With a remote service, only tools are offered. */
  readonly onlyTools?: boolean;
}

/**
 * Clients that write submissions and read, over REST and MCP. A write without success is repeated with its idempotency
 * key until it succeeds, as the documentation advises.
 */
export class Load {
  readonly attempts: Attempt[] = [];
  /** Addresses of applicants, each of one submission, that were tried. */
  readonly tried = new Set<string>();
  /** Ids of acknowledged submissions by the address of their applicant. */
  readonly acknowledged = new Map<string, string>();
  readonly #getDoor: () => Door;
  readonly #installation: Pick<Installation, "programId" | "trackId">;
  readonly #clients: Promise<void>[];
  readonly #pauseMs: number;
  #isStopping = false;

  constructor(
    getDoor: () => Door,
    installation: Pick<Installation, "programId" | "trackId">,
    { writers = 6, readers = 2, pauseMs = 20, onlyTools = false }: LoadOptions = {},
  ) {
    this.#getDoor = getDoor;
    this.#installation = installation;
    this.#pauseMs = pauseMs;
    this.#clients = [
      ...Array.from({ length: writers }, (_, index) => this.#run(() => this.#write(onlyTools || index % 2 === 0))),
      ...Array.from({ length: readers }, (_, index) => this.#run(() => this.#read(onlyTools || index % 2 === 0))),
    ];
  }

  /** Lets each client finish, which repeats what has failed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#clients);
  }

  /** Counts what callers saw of attempts that failed. */
  countFailures(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { ok, seen } of this.attempts) if (!ok) counts[seen] = (counts[seen] ?? 0) + 1;
    return counts;
  }

  /** Returns the time from a moment until the first success after which nothing has failed. */
  getRecoveryMs(sinceMs: number): number {
    const lastFailure = this.attempts.findLastIndex(({ ok }) => !ok);
    const next = this.attempts.slice(lastFailure + 1).find(({ ok }) => ok);
    return lastFailure < 0 || !next ? 0 : Math.max(0, next.atMs - sinceMs);
  }

  /** Returns a percentile of the times of successful calls between two moments, in milliseconds. */
  getLatencyMs(share: number, fromMs: number, toMs: number, isRead = true): number {
    const times = this.attempts
      .filter((each) => each.ok && each.isRead === isRead && each.atMs >= fromMs && each.atMs <= toMs)
      .map(({ durationMs }) => durationMs)
      .toSorted((a, b) => a - b);
    return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  }

  async #run(work: () => Promise<void>): Promise<void> {
    while (!this.#isStopping) {
      await work();
      await delay(this.#pauseMs * (0.5 + Math.random()));
    }
  }

  async #write(asTool: boolean): Promise<void> {
    const [address, key] = [`${randomUUID()}@example.org`, randomUUID()];
    const submission = createSubmissionInput(this.#installation.trackId, address);
    this.tried.add(address);
    for (;;) {
      const answer = await this.#attempt(false, (door) =>
        asTool
          ? callTool(door, "create_submission", submission, key)
          : callRest(door, "POST", "/submissions", submission, key),
      );
      if (answer.ok) {
        this.acknowledged.set(address, asTool ? answer.data.data.submissionId : answer.data.submissionId);
        return;
      }
      await delay(100);
    }
  }

  async #read(asTool: boolean): Promise<void> {
    const { programId } = this.#installation;
    const answer = await this.#attempt(true, (door) =>
      asTool ? callTool(door, "get_program", { programId }) : callRest(door, "GET", `/programs/${programId}`),
    );
    if (!answer.ok) await delay(100);
  }

  async #attempt(isRead: boolean, call: (door: Door) => Promise<Answer>): Promise<Answer> {
    const startedMs = performance.now();
    const answer = await call(this.#getDoor());
    const atMs = performance.now();
    this.attempts.push({ atMs, durationMs: atMs - startedMs, ok: answer.ok, seen: answer.seen, isRead });
    return answer;
  }
}

/** Returns the input of `create_submission` for an applicant. */
export function createSubmissionInput(trackId: string, innovatorEmail: string) {
  return { trackId, deadline: "2030-01-01T00:00:00Z", fields: {}, innovatorEmail, innovatorName: "Ada Marsh" };
}
