import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  finishTurn,
  maxTurnMs,
  runAtEndOfTurn,
  runStep,
  waitForEndOfInput,
  waitForOthers,
} from "../../src/lib/node/event-loop.ts";

function block(forMs: number): void {
  const endsAtMs = performance.now() + forMs;
  while (performance.now() < endsAtMs);
}

/** Long work: notes each of its steps, every one of which fills a turn. */
async function work(name: string, steps: number, order: string[]): Promise<void> {
  for (let step = 1; step <= steps; step += 1) {
    await waitForOthers();
    order.push(`${name}${step}`);
    block(maxTurnMs);
  }
}

test("a turn has one long step at most, and all long work has its steps in turn", async () => {
  const order: string[] = [];
  const both = Promise.all([work("a", 3, order), work("b", 3, order)]);
  for (let turn = 1; turn <= 6; turn += 1) {
    await nextTurn();
    expect(order).toHaveLength(turn);
  }
  await both;
  expect(order).toEqual(["a1", "b1", "a2", "b2", "a3", "b3"]);
});

test("short steps share a turn", async () => {
  let steps = 0;
  for (let count = 0; count < 20; count += 1) {
    runStep(async () => {
      steps += 1;
    });
  }
  await nextTurn();
  expect(steps).toBeGreaterThan(1);
  while (steps < 20) await nextTurn();
});

test("a caller and its answer come before long work, however many callbacks the call has", async () => {
  const order: string[] = [];
  const working = work("step ", 1, order);
  const calling = waitForEndOfInput().then(async () => {
    for (let count = 0; count < 20; count += 1) await new Promise((resolve) => process.nextTick(resolve));
    order.push("call");
    runAtEndOfTurn(() => order.push("answer"));
  });
  await Promise.all([working, calling]);
  expect(order).toEqual(["call", "answer", "step 1"]);
});

test("answers of the same turn are sent together, and none twice", async () => {
  const sent: number[] = [];
  runAtEndOfTurn(() => sent.push(1));
  runAtEndOfTurn(() => sent.push(2));
  expect(sent).toEqual([]);
  finishTurn();
  expect(sent).toEqual([1, 2]);
  await nextTurn();
  await nextTurn();
  expect(sent).toEqual([1, 2]);
});
