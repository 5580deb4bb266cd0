import { expect, onTestFinished, test, vi } from "vitest";
import { createFairScheduler } from "../../src/pipeline/fair-scheduler.ts";

test("a call that waits too long is refused, and takes no place of later calls", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const scheduler = createFairScheduler({ maxRunning: 1, maxWaiting: 5, maxWaitMs: 10_000 });
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
