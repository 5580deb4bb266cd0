import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { createFairScheduler } from "../../src/pipeline/fair-scheduler.ts";

const limits = { maxRunning: 4, maxRunningShared: 1, maxWaiting: 100, maxWaitMs: 10_000 };
const alone = { isShared: () => false };

test("a call that waits too long is refused, and takes no place of later calls", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const scheduler = createFairScheduler({ ...limits, maxRunning: 1, maxWaiting: 5 }, alone);
  const blocker = Promise.withResolvers<string>();
  const running = scheduler.run("busy", () => blocker.promise);
  const work = vi.fn(async () => "done");
  const waiting = [scheduler.run("busy", work), scheduler.run("busy", work)];
  const refusals = Promise.all(
    waiting.map((call) =>
      expect(call).rejects.toMatchObject({ code: "unavailable", details: { retryAfterSeconds: 1 } }),
    ),
  );
  await vi.advanceTimersByTimeAsync(9_999);
  expect(await scheduler.run("light", work)).toBe("done");
  await vi.advanceTimersByTimeAsync(1);
  await refusals;
  expect(work).toHaveBeenCalledTimes(1);

  const later = scheduler.run("busy", work);
  blocker.resolve("first");
  expect(await Promise.all([running, later])).toEqual(["first", "done"]);
  expect(await scheduler.run("busy", work)).toBe("done");
  expect(vi.getTimerCount()).toBe(0);
});

/** A processor whose time passes only while work uses it. */
function createProcessor() {
  let usedUs = 0;
  return {
    readUsedUs: () => usedUs,
    use(us: number): void {
      usedUs += us;
    },
  };
}

const costsUs = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 20, maxLength: 60 });

test("two organisations that always have calls waiting get the same processor time, whatever a call costs", async () => {
  await fc.assert(
    fc.asyncProperty(costsUs, costsUs, async (busyUs, otherUs) => {
      const processor = createProcessor();
      const scheduler = createFairScheduler(limits, alone, processor.readUsedUs);
      const used = { busy: 0, other: 0 };
      const left = { busy: busyUs.length, other: otherUs.length };
      const run = (tenant: keyof typeof used, us: number) =>
        scheduler.run(tenant, async () => {
          processor.use(us);
          used[tenant] += us;
          left[tenant] -= 1;
          // The first call of each starts before there are others to compare with.
          const firstUs = (busyUs[0] ?? 0) + (otherUs[0] ?? 0);
          const isShared = left.busy > 0 && left.other > 0;
          if (isShared) expect(Math.abs(used.busy - used.other)).toBeLessThanOrEqual(firstUs + 40_000);
        });
      const calls = [busyUs.map((us) => run("busy", us)), otherUs.map((us) => run("other", us))];
      await Promise.all(calls.flat());
      expect(left).toEqual({ busy: 0, other: 0 });
    }),
    { numRuns: 50 },
  );
});

test("all calls of any number of organisations run, at most so many of one at once, and the rest is refused", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ tenant: fc.constantFrom("a", "b", "c"), turns: fc.nat({ max: 3 }), us: fc.nat(9_000) }), {
        maxLength: 60,
      }),
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      async (sent, maxRunning, isShared) => {
        const processor = createProcessor();
        const scheduler = createFairScheduler(
          { ...limits, maxRunning: 4, maxRunningShared: maxRunning, maxWaiting: 8 },
          { isShared: () => isShared },
          processor.readUsedUs,
        );
        const running = new Map<string, number>();
        let most = 0;
        const outcomes = await Promise.allSettled(
          sent.map(({ tenant, turns, us }) =>
            scheduler.run(tenant, async () => {
              const count = (running.get(tenant) ?? 0) + 1;
              running.set(tenant, count);
              most = Math.max(most, count);
              processor.use(us);
              for (let turn = 0; turn < turns; turn += 1) await setImmediate();
              running.set(tenant, (running.get(tenant) ?? 0) - 1);
            }),
          ),
        );
        expect(most).toBeLessThanOrEqual(isShared ? maxRunning : 4);
        for (const [tenant, own] of Map.groupBy(outcomes.keys(), (index) => sent[index]?.tenant)) {
          const done = own.filter((index) => outcomes[index]?.status === "fulfilled");
          expect(done, tenant).toHaveLength(Math.min(own.length, 4 + 8));
        }
      },
    ),
    { numRuns: 100 },
  );
});

test("the only organisation with calls uses all that an organisation may run", async () => {
  const scheduler = createFairScheduler({ ...limits, maxWaiting: 10 }, alone);
  const [four, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let running = 0;
  const calls = Array.from({ length: 8 }, () =>
    scheduler.run("alone", () => {
      running += 1;
      if (running === 4) four.resolve();
      return end.promise;
    }),
  );
  await four.promise;
  expect(running).toBe(4);
  end.resolve();
  await Promise.all(calls);
  expect(running).toBe(8);
});
