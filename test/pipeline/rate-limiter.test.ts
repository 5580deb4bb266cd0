import fc from "fast-check";
import { describe, expect, onTestFinished, test as plain, vi } from "vitest";
import { createId } from "../../src/lib/ids.ts";
import { createRateLimiter, RateLimited } from "../../src/pipeline/rate-limiter.ts";
import { openStore } from "../../src/store/open.ts";
import { type RawAnswer, rest } from "../support/clients/raw-http.ts";
import { openServersOnOneDatabase } from "../support/database/shared-database.ts";
import { openTestServer, TestClock, type TestServer, test as withDesk } from "../support/servers/test-server.ts";

const limit = 300;

const test = withDesk.extend<{ server: TestServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixture's dependencies from the pattern
  server: async ({}, use) => {
    const { server, close } = await openTestServer({ PROGRAMME_REQUESTS_PER_MINUTE: String(limit) });
    await use(server);
    await close();
  },
});

describe("the limit of 300 requests a minute", () => {
  test("lets 300 requests pass, and tells the next when to retry", async ({ server }) => {
    const token = await server.token();
    for (let sent = 1; sent <= limit; sent++) {
      const { status, headers } = await rest(server, token, "list_programs", {});
      expect([sent, status, headers.get("x-ratelimit-remaining")]).toEqual([sent, 200, String(limit - sent)]);
      expect(headers.get("ratelimit")).toBe(`"default";r=${limit - sent};t=60`);
    }
    const refused = await rest(server, token, "list_programs", {});
    expect(refused).toMatchObject({
      status: 429,
      body: { success: false, error: { code: "rate_limited", details: { retryAfterSeconds: 60 } } },
    });
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      "retry-after": "60",
      "ratelimit-policy": '"default";q=300;w=60',
      ratelimit: '"default";r=0;t=60',
      "x-ratelimit-limit": "300",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": expect.stringMatching(/^\d{10}$/),
    });
    const mcp = await callerOf(server, token);
    await expect(mcp()).rejects.toMatchProblem("rate_limited", { retryAfterSeconds: 60 });
    // Another token of the same tenant has its own.
    expect((await rest(server, await server.token(), "list_programs", {})).status).toBe(200);
  });

  test("frees each request's place a minute after it", async ({ server }) => {
    const token = await server.token();
    await times(100, () => rest(server, token, "list_programs", {}));
    server.clock.advance(30_000);
    await times(200, () => rest(server, token, "list_programs", {}));
    const early = await rest(server, token, "list_programs", {});
    expect([early.status, early.headers.get("retry-after")]).toEqual([429, "30"]);
    server.clock.advance(29_999);
    expect((await rest(server, token, "list_programs", {})).headers.get("retry-after")).toBe("1");
    server.clock.advance(1);
    const statuses = (await times(101, () => rest(server, token, "list_programs", {}))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([...Array(100).fill(200), 429]);
  });

  test("frees all places when the clock is set back by more than a minute", async ({ server }) => {
    const token = await server.token();
    for (const jumpMs of [0, -7_200_000]) {
      server.clock.advance(jumpMs);
      const statuses = (await times(limit + 1, () => rest(server, token, "list_programs", {}))).map(
        ({ status }) => status,
      );
      expect(statuses.toSorted()).toEqual([...Array(limit).fill(200), 429]);
    }
    server.clock.advance(60_000);
    expect((await rest(server, token, "list_programs", {})).status).toBe(200);
  });

  test("counts refused and repeated requests, but not refused tokens", async ({ server }) => {
    const token = await server.token(["programs:read", "persons:write"]);
    const person = { kinds: [], provenance: { source: "crm" } };
    const key = { "idempotency-key": "k" };
    const answers: RawAnswer[] = [
      await rest(server, token, "get_program", { programId: "prg_none" }),
      await rest(server, token, "list_programs", { limit: 0 }),
      await rest(server, token, "list_persons", {}),
      await rest(server, token, "create_person", person, key),
      await rest(server, token, "create_person", person, key),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 400, 403, 201, 201]);
    expect(answers.at(-1)?.headers.get("idempotent-replayed")).toBe("true");
    expect(answers.map(({ headers }) => headers.get("x-ratelimit-remaining"))).toEqual([
      "299",
      "298",
      "297",
      "296",
      "295",
    ]);
    const stranger = await rest(server, "0".repeat(64), "list_programs", {});
    expect([stranger.status, stranger.headers.get("x-ratelimit-remaining")]).toEqual([401, null]);
  });

  plain("is shared by two processes on one database", async () => {
    const { servers, close } = await openServersOnOneDatabase(2, { PROGRAMME_REQUESTS_PER_MINUTE: String(limit) });
    const [first, second] = servers as [TestServer, TestServer];
    const token = await first.token();
    const answers: number[] = [];
    for (let round = 0; round < 200; round++) {
      const both = await Promise.all([first, second].map((server) => rest(server, token, "list_programs", {})));
      answers.push(...both.map(({ status }) => status));
    }
    expect(answers.filter((status) => status === 200)).toHaveLength(limit);
    expect(answers.filter((status) => status === 429)).toHaveLength(100);
    await close();
  });
});

describe("the sliding window", () => {
  // Steps of time and bursts of requests, some of each process.
  const scenario = fc.array(
    fc.record({
      waitMs: fc.oneof(fc.nat(200), fc.nat(7_000), fc.nat(70_000)),
      process: fc.nat(1),
      requests: fc.nat(12),
    }),
    { maxLength: 40 },
  );
  const smallLimit = 20;

  async function run(steps: { waitMs: number; process: number; requests: number }[], processes: number) {
    const store = await openStore({ database: ":memory:" });
    const clock = new TestClock();
    const limiters = Array.from({ length: processes }, () => createRateLimiter(store, clock, smallLimit));
    const tokenId = createId("tok");
    const decisions: { atMs: number; passed: boolean }[] = [];
    for (const { waitMs, process, requests } of steps) {
      clock.advance(waitMs);
      const limiter = limiters[process % processes];
      for (let request = 0; request < requests; request++) {
        const passed = await limiter?.consume(tokenId).then(
          () => true,
          (error) => (error instanceof RateLimited ? false : Promise.reject(error)),
        );
        decisions.push({ atMs: clock.now().getTime(), passed: passed === true });
      }
    }
    await store.close();
    return decisions;
  }

  const inWindow = (passedMs: readonly number[], atMs: number) => passedMs.filter((ms) => ms > atMs - 60_000).length;

  plain("is exact for one process: a request passes if and only if it is among the last minute's 20", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (steps) => {
        const passedMs: number[] = [];
        for (const { atMs, passed } of await run(steps, 1)) {
          expect(passed).toBe(inWindow(passedMs, atMs) < smallLimit);
          if (passed) passedMs.push(atMs);
        }
      }),
      { numRuns: 60 },
    );
  });

  plain("never holds more than the limit, whatever two processes do", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (steps) => {
        const passedMs: number[] = [];
        for (const { atMs } of (await run(steps, 2)).filter(({ passed }) => passed)) {
          passedMs.push(atMs);
          expect(inWindow(passedMs, atMs)).toBeLessThanOrEqual(smallLimit);
        }
      }),
      { numRuns: 60 },
    );
  });

  plain("frees each permit in the very millisecond in which its minute is over", async () => {
    const store = await openStore({ database: ":memory:" });
    const clock = new TestClock();
    const limiter = createRateLimiter(store, clock, smallLimit);
    const passes = () =>
      limiter.consume("tok_1").then(
        () => true,
        () => false,
      );
    for (let request = 0; request < smallLimit; request++) {
      expect(await passes()).toBe(true);
      clock.advance(1);
    }
    expect(await passes()).toBe(false);
    clock.advance(60_000 - smallLimit);
    for (let request = 0; request < smallLimit; request++) {
      expect([await passes(), await passes()]).toEqual([true, false]);
      clock.advance(1);
    }
    await store.close();
  });

  plain("makes a request wait for the database only at its first lease and near the limit", async () => {
    const store = await openStore({ database: ":memory:" });
    const clock = new TestClock();
    const lease = store.leasePermits.bind(store);
    const leases: Promise<unknown>[] = [];
    let open = (): void => {};
    const gate = vi.spyOn(store, "leasePermits").mockImplementation((request) => {
      const opened = new Promise<void>((resolve) => (open = resolve));
      const granted = opened.then(() => lease(request));
      leases.push(granted);
      return granted;
    });
    onTestFinished(() => gate.mockRestore());
    const limiter = createRateLimiter(store, clock, 100);
    const waits: number[] = [];
    for (let request = 1; request <= 100; request += 1) {
      clock.advance(20);
      let passed = false;
      const consumed = limiter.consume("tok_1").then(() => (passed = true));
      await new Promise((resolve) => setImmediate(resolve));
      if (!passed) waits.push(request);
      open();
      await Promise.all([consumed, ...leases]);
    }
    expect(waits[0]).toBe(1);
    expect(waits[1]).toBeGreaterThan(50);
    expect(leases.length).toBeLessThan(25);
    await store.close();
  });

  plain("gives the permits of many tokens back at a stop, of several at a time", async () => {
    const store = await openStore({ database: ":memory:" });
    const clock = new TestClock();
    const limiter = createRateLimiter(store, clock, smallLimit * 10);
    const tokenIds = Array.from({ length: 30 }, (_, index) => `tok_${index}`);
    for (const tokenId of tokenIds) await limiter.consume(tokenId);
    const lease = store.leasePermits.bind(store);
    const released: string[] = [];
    let running = 0;
    let most = 0;
    const counted = vi.spyOn(store, "leasePermits").mockImplementation(async (request) => {
      most = Math.max(most, ++running);
      const granted = await lease(request);
      running -= 1;
      released.push(request.tokenId);
      return granted;
    });
    onTestFinished(() => counted.mockRestore());
    await limiter.close();
    expect(released.toSorted()).toEqual(tokenIds.toSorted());
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThan(10);
    await store.close();
  });

  plain("counts of a process that has stopped only what it used", async () => {
    const store = await openStore({ database: ":memory:" });
    const clock = new TestClock();
    const startAndStop = async () => {
      const limiter = createRateLimiter(store, clock, smallLimit);
      const rate = await limiter.consume("tok_1").catch((error: RateLimited) => error.rate);
      await limiter.close();
      clock.advance(1);
      return rate.remaining;
    };
    const remaining: number[] = [];
    for (let process = 0; process < smallLimit; process++) remaining.push(await startAndStop());
    expect(remaining).toEqual(Array.from({ length: smallLimit }, (_, used) => smallLimit - 1 - used));
    await expect(createRateLimiter(store, clock, smallLimit).consume("tok_1")).rejects.toThrow(RateLimited);
    await store.close();
  });

  plain("does not hand permits out twice to requests that come at once", async () => {
    const store = await openStore({ database: ":memory:" });
    const limiter = createRateLimiter(store, new TestClock(), smallLimit);
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => limiter.consume("tok_1")));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(smallLimit);
    await store.close();
  });
});

describe("one export in five minutes", () => {
  withDesk("is told when the next may start, and starts then", async ({ server }) => {
    const { programId } = await server.seed.program();
    const token = await server.token();
    const start = (headers = {}) => rest(server, token, "create_export", { programId }, headers);
    const first = await start({ "idempotency-key": "k" });
    expect(first.status).toBe(200);

    server.clock.advance(1_000);
    const refused = await start();
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: "export_rate_limited", details: { retryAfterSeconds: 299 } } },
    });
    expect(refused.headers.get("retry-after")).toBe("299");
    const replayed = await start({ "idempotency-key": "k" });
    expect([replayed.status, replayed.text]).toEqual([200, first.text]);

    server.clock.advance(298_999);
    expect((await start()).headers.get("retry-after")).toBe("1");
    server.clock.advance(1);
    expect((await start()).status).toBe(200);
    // The clock of another process, or a call that waited for the database, is a little behind.
    server.clock.advance(-50);
    expect((await start()).headers.get("retry-after")).toBe("300");
    // A clock that was set back does not prolong the wait.
    server.clock.advance(-7_200_000);
    expect((await start()).status).toBe(200);
    expect((await start()).headers.get("retry-after")).toBe("300");
    expect(await server.app.store.reader(server.businessId).count("exports", {})).toBe(3);
  });

  plain("is none at all without an interval, whichever of two processes has the later clock", async () => {
    const { server, close } = await openTestServer({ PROGRAMME_EXPORT_INTERVAL_SECONDS: "0" });
    onTestFinished(close);
    const { programId } = await server.seed.program();
    const token = await server.token();
    for (const stepMs of [0, -500]) {
      server.clock.advance(stepMs);
      expect((await rest(server, token, "create_export", { programId })).status).toBe(200);
    }
  });

  withDesk("is counted by token", async ({ server }) => {
    const { programId } = await server.seed.program();
    for (const token of [await server.token(), await server.token()]) {
      expect((await rest(server, token, "create_export", { programId })).status).toBe(200);
    }
  });

  withDesk("is not used up by an export that is refused", async ({ server }) => {
    const { programId } = await server.seed.program();
    const token = await server.token();
    expect((await rest(server, token, "create_export", { programId: "prg_none" })).status).toBe(404);
    expect((await rest(server, token, "create_export", { programId, state: "" })).status).toBe(400);
    expect((await rest(server, token, "create_export", { programId })).status).toBe(200);
  });
});

/** Does the work many times, as often at once as a tenant may call. */
async function times<T>(count: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  while (results.length < count) {
    results.push(...(await Promise.all(Array.from({ length: Math.min(100, count - results.length) }, work))));
  }
  return results;
}

async function callerOf(server: TestServer, token: string): Promise<() => Promise<unknown>> {
  const caller = await server.with("MCP", token);
  return () => caller.list_programs();
}
