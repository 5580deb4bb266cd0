import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createRequestPacer } from "../../src/pipeline/request-pacer.ts";
import { createTenantActivity } from "../../src/pipeline/tenant-activity.ts";

test("sixteen requests of the only organisation begin in a turn, also of those that wait", async () => {
  const pacer = createRequestPacer(createTenantActivity());
  const waiting = Array.from({ length: 40 }, () => pacer.wait("alone"));
  expect(waiting.map((each) => each === undefined)).toEqual([...Array(16).fill(true), ...Array(24).fill(false)]);
  let begun = 0;
  for (const each of waiting) {
    void each?.then(() => {
      begun += 1;
    });
  }
  const counts: number[] = [];
  while (begun < 24) {
    await setImmediate();
    counts.push(begun);
  }
  expect(counts[0]).toBeLessThanOrEqual(16);
  await setImmediate();
  expect(pacer.wait("alone")).toBeUndefined();
});

test("while organisations share the process, four requests of each begin in a turn, in the order in which they came", async () => {
  const tenants = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 80 });
  await fc.assert(
    fc.asyncProperty(fc.array(tenants, { maxLength: 5 }), async (turns) => {
      const pacer = createRequestPacer({ note: () => undefined, isShared: () => true }, () => 0);
      const begun: { tenant: string; number: number; turn: number }[] = [];
      let turn = 0;
      const requests: Promise<void>[] = [];
      for (const sent of turns) {
        for (const tenant of sent) {
          const number = requests.length;
          const begin = () => void begun.push({ tenant, number, turn });
          const waiting = pacer.wait(tenant);
          if (waiting) requests.push(waiting.then(begin));
          else requests.push(Promise.resolve(begin()));
        }
        await setImmediate();
        turn += 1;
      }
      for (; begun.length < requests.length; turn += 1) await setImmediate();
      for (const own of Map.groupBy(begun, ({ tenant }) => tenant).values()) {
        expect(own.map(({ number }) => number)).toEqual(own.map(({ number }) => number).toSorted((a, b) => a - b));
        // Those that wait begin after the turn is counted here, so two turns may have one number.
        for (const together of Map.groupBy(own, (each) => each.turn).values())
          expect(together.length).toBeLessThanOrEqual(8);
        expect((own.at(-1)?.turn ?? 0) - (own[0]?.turn ?? 0)).toBeGreaterThanOrEqual(Math.ceil(own.length / 4) - 2);
      }
    }),
    { numRuns: 50 },
  );
});

test("requests begin one by one while each takes long, and one of each organisation in each turn", async () => {
  let nowMs = 0;
  const pacer = createRequestPacer({ note: () => undefined, isShared: () => true }, () => nowMs);
  const begun: string[] = [];
  for (const tenant of ["a", "b"]) {
    for (let request = 0; request < 10; request += 1) {
      void pacer.wait(tenant)?.then(() => {
        begun.push(tenant);
        nowMs += 1;
      });
    }
  }
  const turns: string[] = [];
  for (let turn = 0; turn < 8; turn += 1) {
    await setImmediate();
    turns.push(begun.splice(0).join(""));
  }
  expect(turns.join("")).toBe("ab".repeat(6));
  expect(turns.every((own) => own.length <= 2)).toBe(true);
});

test("a request of another organisation does not wait for those that came before it", () => {
  const pacer = createRequestPacer({ note: () => undefined, isShared: () => true }, () => 0);
  const busy = Array.from({ length: 40 }, () => pacer.wait("busy"));
  expect(busy.map((waiting) => waiting === undefined)).toEqual([...Array(4).fill(true), ...Array(36).fill(false)]);
  expect(pacer.wait("light")).toBeUndefined();
});

test("the process is shared until a second after the last change from one organisation to another", () => {
  const step = fc.record({ tenant: fc.constantFrom("a", "b"), afterMs: fc.nat(1_500) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      let nowMs = 0;
      const activity = createTenantActivity(() => nowMs);
      const sent: { tenant: string; atMs: number }[] = [];
      for (const { tenant, afterMs } of steps) {
        nowMs += afterMs;
        activity.note(tenant);
        sent.push({ tenant, atMs: nowMs });
        const changed = sent.findLast((each, index) => index > 0 && each.tenant !== sent[index - 1]?.tenant);
        expect(activity.isShared()).toBe(changed !== undefined && nowMs - changed.atMs < 1_000);
      }
    }),
  );
});
