import fc from "fast-check";
import { expect, test } from "vitest";
import { createId } from "../../src/lib/ids.ts";
import type { EndedLease, PermitLease } from "../../src/store/coordination/rate-limit-leases.ts";
import type { Store } from "../../src/store/port.ts";
import type { Bench } from "./conformance.ts";

const windowMs = 60_000;
const leaseMs = 5_000;
const startMs = 1_000_000_000_000;

/** A process that holds leases and uses their permits. */
class Replica {
  readonly #store: Store;
  readonly #fixed: { tokenId: string; limit: number; chunk: number };
  #lease: PermitLease | undefined;
  #usedAtMs: number[] = [];

  constructor(store: Store, fixed: { tokenId: string; limit: number; chunk: number }) {
    this.#store = store;
    this.#fixed = fixed;
  }

  /** Uses a permit, leasing more if it has to; answers when to come again if there is none. */
  async use(nowMs: number): Promise<{ used: boolean; retryAtMs: number }> {
    const held = this.#lease;
    if (held && nowMs <= held.expiresAtMs && this.#usedAtMs.length < held.granted) {
      this.#usedAtMs.push(nowMs);
      return { used: true, retryAtMs: nowMs };
    }
    const settle = held ? [{ leaseId: held.leaseId, usedAtMs: this.#usedAtMs }] : [];
    const { lease, retryAtMs } = await this.#store.leasePermits({ ...this.#fixed, windowMs, leaseMs, nowMs, settle });
    this.#lease = lease;
    this.#usedAtMs = lease ? [nowMs] : [];
    return { used: lease !== undefined, retryAtMs };
  }

  /** Forgets all, as a process that dies does. */
  crash(): void {
    this.#lease = undefined;
    this.#usedAtMs = [];
  }
}

/** Most uses that any window holds; `usedAtMs` ascends. */
function fullestWindow(usedAtMs: readonly number[]): number {
  return Math.max(0, ...usedAtMs.map((end) => usedAtMs.filter((used) => used > end - windowMs && used <= end).length));
}

/** Tests the leases of request permits: see `PermitRequest`. */
export function permits(bench: () => Bench): void {
  test("no window of three processes ever exceeds the limit", async () => {
    const turn = fc.record({
      replica: fc.nat(2),
      waitMs: fc.constantFrom(0, 1, 100, 2_000, 5_000, 30_000),
      crash: fc.integer({ min: 0, max: 15 }),
    });
    const runs = fc.record({
      limit: fc.integer({ min: 1, max: 12 }),
      chunk: fc.integer({ min: 1, max: 5 }),
      turns: fc.array(turn, { minLength: 30, maxLength: 120 }),
    });
    await fc.assert(
      fc.asyncProperty(runs, async ({ limit, chunk, turns }) => {
        const fixed = { tokenId: createId("tok"), limit, chunk };
        const replicas = Array.from({ length: 3 }, () => new Replica(bench().store, fixed));
        const usedAtMs: number[] = [];
        let nowMs = startMs;
        for (const { replica, waitMs, crash } of turns) {
          nowMs += waitMs;
          if (crash === 0) replicas[replica]?.crash();
          const answer = await replicas[replica]?.use(nowMs);
          if (answer?.used) usedAtMs.push(nowMs);
          else expect(answer?.retryAtMs).toBeGreaterThan(nowMs);
        }
        expect(fullestWindow(usedAtMs)).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 40 },
    );
  });

  test("a single process gets exactly the limit in a new window, and the next permit when the first one expires", async () => {
    const replica = new Replica(bench().store, { tokenId: "tok_1", limit: 25, chunk: 7 });
    let nowMs = startMs;
    for (let n = 0; n < 25; n++) expect(await replica.use(nowMs++)).toMatchObject({ used: true });
    const refused = await replica.use(nowMs);
    expect(refused).toEqual({ used: false, retryAtMs: startMs + windowMs });
    expect(await replica.use(refused.retryAtMs - 1)).toMatchObject({ used: false });
    expect(await replica.use(refused.retryAtMs)).toMatchObject({ used: true });
    expect(await replica.use(refused.retryAtMs)).toMatchObject({ used: false });
  });

  test("a lease that is never settled counts in full until one window after its end", async () => {
    const { store } = bench();
    const ask = (nowMs: number) =>
      store.leasePermits({ tokenId: "tok_1", limit: 10, windowMs, chunk: 10, leaseMs, nowMs, settle: [] });
    expect(await ask(startMs)).toMatchObject({ lease: { granted: 10, expiresAtMs: startMs + leaseMs }, remaining: 0 });
    const freeMs = startMs + leaseMs + windowMs;
    expect(await ask(freeMs - 1)).toEqual({ lease: undefined, remaining: 0, retryAtMs: freeMs });
    expect(await ask(freeMs)).toMatchObject({ lease: { granted: 10 } });
  });

  test("unused permits of a settled lease are free for other processes, and tokens do not share permits", async () => {
    const { store } = bench();
    const ask = (tokenId: string, nowMs: number, settle: readonly EndedLease[] = []) =>
      store.leasePermits({ tokenId, limit: 10, windowMs, chunk: 8, leaseMs, nowMs, settle });
    const { lease, remaining } = await ask("tok_1", startMs);
    expect(remaining).toBe(2);
    const leaseId = lease?.leaseId as string;
    expect(await ask("tok_2", startMs, [{ leaseId, usedAtMs: [] }])).toMatchObject({ lease: { granted: 8 } });
    expect(await ask("tok_1", startMs)).toMatchObject({ lease: { granted: 2 }, remaining: 0 });
    expect(await ask("tok_1", startMs + 1, [{ leaseId, usedAtMs: [startMs] }])).toMatchObject({
      lease: { granted: 7 },
      remaining: 0,
    });
    expect(await ask("tok_1", startMs + 1, [{ leaseId, usedAtMs: [] }])).toMatchObject({ lease: undefined });
  });
}
