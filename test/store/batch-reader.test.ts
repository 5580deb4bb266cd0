import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { createBatchReader } from "../../src/store/batch-reader.ts";

const limits = { maxKeys: 4, maxQueries: 2 };
const key = fc.constantFrom("a", "b", "c", "d", "e", "absent", "failing");

test("each caller gets the value or failure of a query that started after its request, of few queries at once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(key, { maxLength: 40 }), async (scheduler, keys) => {
      /** The value of each key changes before each request, as a token does that is revoked. */
      let version = 0;
      let queries = 0;
      const read = createBatchReader(async (batch) => {
        queries += 1;
        expect(queries).toBeLessThanOrEqual(limits.maxQueries);
        expect(batch.length).toBeLessThanOrEqual(limits.maxKeys);
        const values = new Map(batch.filter((each) => each !== "absent").map((each) => [each, { key: each, version }]));
        await scheduler.schedule(Promise.resolve());
        queries -= 1;
        if (batch.includes("failing")) throw new Error("The query failed");
        return values;
      }, limits);
      const outcomes = Promise.all(
        keys.map(async (each) => {
          version += 1;
          const asked = version;
          try {
            const value = await read(each);
            expect(value?.key).toBe(each === "absent" ? undefined : each);
            if (value) expect(value.version).toBeGreaterThanOrEqual(asked);
          } catch (error) {
            expect(String(error)).toContain("The query failed");
            return false;
          }
          return true;
        }),
      );
      await scheduler.waitAll();
      const succeeded = await outcomes;
      expect(succeeded.filter((_, index) => keys[index] === "failing")).not.toContain(true);
      if (!keys.includes("failing")) expect(succeeded).not.toContain(false);
      // It goes on after failures.
      const last = read("a");
      await scheduler.waitAll();
      expect(await last).toMatchObject({ key: "a" });
    }),
  );
});

test("keys that are asked for while queries are on their way are read together", async () => {
  const batches: (readonly string[])[] = [];
  const read = createBatchReader(async (keys) => {
    batches.push(keys);
    await new Promise((resolve) => setImmediate(resolve));
    return new Map(keys.map((each) => [each, each]));
  }, limits);
  const values = await Promise.all(["1", "2", "3", "4", "5", "6", "7"].map(read));
  expect(values).toEqual(["1", "2", "3", "4", "5", "6", "7"]);
  expect(batches).toEqual([["1"], ["2"], ["3", "4", "5", "6"], ["7"]]);
});

test("queries that wait for a lost connection hold up others for a quarter of a second", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const lost = Promise.withResolvers<never>();
  const read = createBatchReader(
    async (keys) => (keys.includes("lost") ? await lost.promise : new Map(keys.map((each) => [each, each]))),
    limits,
  );
  const failures = Promise.allSettled([read("lost"), read("lost")]);
  const later = read("later");
  const isAnswered = vi.fn();
  void later.then(isAnswered);
  await vi.advanceTimersByTimeAsync(249);
  expect(isAnswered).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(await later).toBe("later");
  lost.reject(new Error("The connection is lost"));
  expect((await failures).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await Promise.all(["1", "2", "3"].map(read))).toEqual(["1", "2", "3"]);
  expect(vi.getTimerCount()).toBe(0);
});
