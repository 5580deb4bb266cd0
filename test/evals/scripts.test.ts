import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptSets } from "../../evals/agents/script.ts";
import { runScripts } from "../../evals/harness/run-scripts.ts";
import { createWorldFactory, type WorldFactory } from "../../evals/harness/world.ts";
import { tasks } from "../../evals/tasks/tasks.ts";

interface Pinned {
  readonly calls: number;
  readonly failedCalls: number;
  readonly bytes: number;
}

const folder = join(import.meta.dirname, "../../evals");
const pins = JSON.parse(readFileSync(join(folder, "scripted.json"), "utf8")) as Record<
  string,
  Readonly<Record<(typeof scriptSets)[number], Pinned>>
>;

/** The number of bytes beyond the pinned ones that an agent may read: a note or two, or 5 % of a long text. */
function tolerate(bytes: number): number {
  return bytes + Math.max(300, bytes * 0.05);
}

let worlds: WorldFactory;
beforeAll(async () => {
  worlds = await createWorldFactory();
});
afterAll(() => worlds.close());

describe("a scripted agent", () => {
  test.each(tasks)("finishes $name with the calls and bytes of the table", async (task) => {
    const results = await runScripts(task, { worlds });
    for (const set of scriptSets) {
      const hint = `${set}: \`npm run evals -- --script\` accepts a change that is intended`;
      const { findings, calls, failedCalls, bytes, addresses, unaskedChanges } = results[set];
      const pinned = pins[task.name]?.[set];
      expect({ findings, calls, failedCalls, addresses, unaskedChanges }, hint).toEqual({
        findings: [],
        calls: pinned?.calls,
        failedCalls: pinned?.failedCalls,
        addresses: 0,
        unaskedChanges: 0,
      });
      expect(bytes, hint).toBeLessThanOrEqual(tolerate(pinned?.bytes ?? 0));
    }
  });
});

test("each script belongs to a task, and each task has a script of the interface's tools", () => {
  const names = tasks.map(({ name }) => name);
  const listScripts = (set: string) =>
    globSync(`scripts/${set}/*.json`, { cwd: folder }).map((path) => basename(path, ".json"));
  expect(listScripts("operations").toSorted()).toEqual(names.toSorted());
  expect(names).toEqual(expect.arrayContaining(listScripts("workflows")));
  expect(Object.keys(pins)).toEqual(names);
});

test("work of the foundation's staff takes at most 100 calls, 250 KB and 3 failed calls", () => {
  const staff = tasks.filter(({ kind }) => kind === "reading" || kind === "writing");
  expect(staff).toHaveLength(22);
  for (const set of scriptSets) {
    const sum = (measure: keyof Pinned) =>
      staff.reduce((total, { name }) => total + (pins[name]?.[set][measure] ?? 0), 0);
    expect(sum("calls")).toBeLessThanOrEqual(100);
    expect(sum("bytes")).toBeLessThanOrEqual(250_000);
    expect(sum("failedCalls")).toBeLessThanOrEqual(3);
  }
});
