/** Runs the tasks with a model, or with the recorded scripts, and writes tables of the results. See README.md here. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { LanguageModel } from "ai";
import { createModelAgent } from "./agents/model.ts";
import { loadModel, NoModel } from "./agents/providers.ts";
import { createScriptedAgent, readScript } from "./agents/script.ts";
import { callTranslated, canTranslate } from "./agents/translate.ts";
import { chooseServer } from "./harness/choose-server.ts";
import { formatComparison, formatReport } from "./harness/report.ts";
import { runScripts } from "./harness/run-scripts.ts";
import { type RunOptions, runTask, type TaskResult } from "./harness/run-task.ts";
import type { Task } from "./harness/task.ts";
import { createWorldFactory } from "./harness/world.ts";
import { tasks } from "./tasks/tasks.ts";

const { values: options } = parseArgs({
  options: {
    model: { type: "string" },
    script: { type: "boolean", default: false },
    server: { type: "string" },
    translate: { type: "boolean", default: false },
    task: { type: "string", multiple: true, default: [] },
    port: { type: "string", default: "0" },
  },
});

const unknown = options.task.filter((name) => !tasks.some((task) => task.name === name));
if (unknown.length > 0) {
  console.error(`${unknown.join(", ")} is not a task. There are ${tasks.map(({ name }) => name).join(", ")}.`);
  process.exit(2);
}
const chosen = options.task.length === 0 ? tasks : tasks.filter(({ name }) => options.task.includes(name));

if (options.translate) await runTranslated();
else if (options.script) await runAllScripts();
else {
  try {
    await runModel(await loadModel(options.model, process.env));
  } catch (error) {
    if (!(error instanceof NoModel)) throw error;
    console.log(`${error.message} Skipped. The recorded scripts need none: npm run evals -- --script`);
  }
}

async function runModel(model: LanguageModel): Promise<void> {
  const agent = createModelAgent(model);
  const results = await runEach((task, environment) => runTask(task, { ...environment, agent }));
  const report = { title: `${options.model} on ${options.server ?? "programme-mcp"}`, results };
  save("results", "model", formatReport(report), report);
}

async function runAllScripts(): Promise<void> {
  const results = await runEach(runScripts);
  const reports = [
    { title: "operations", results: results.map(({ operations }) => operations) },
    { title: "workflows", results: results.map(({ workflows }) => workflows) },
  ];
  const text = [formatComparison(reports), ...reports.map(formatReport)].join("\n\n");
  const pins = results.map(({ operations, workflows }) => [
    operations.task,
    { operations: pickPinned(operations), workflows: pickPinned(workflows) },
  ]);
  // The committed table is of this server as it is started here.
  save(options.server === undefined ? "." : "results", "scripted", text, Object.fromEntries(pins));
}

/** Compares this server with one that was generated from the OpenAPI document, on the scripts that both can perform. */
async function runTranslated(): Promise<void> {
  const shared = chosen.filter(
    ({ name, kind, flaky }) =>
      // In tasks about conflicts, colleagues act on calls of this server's tools.
      kind !== "conflict" && !flaky && readScript("operations", name).steps.every(canTranslate),
  );
  // The limits are those of this server.
  const unlimited = shared.map((task) => ({ ...task, limits: { calls: Infinity, bytes: Infinity } }));
  const results = await runEach(async (task, environment) => {
    const { worlds, port } = environment;
    return {
      own: await runTask(task, { worlds, port, agent: createScriptedAgent("operations") }),
      other: await runTask(task, { ...environment, agent: createScriptedAgent("operations", callTranslated) }),
    };
  }, unlimited);
  const reports = [
    { title: "programme-mcp", results: results.map(({ own }) => own) },
    { title: options.server ?? "programme-mcp, translated", results: results.map(({ other }) => other) },
  ];
  const text = [`${shared.length} of ${chosen.length} scripts can be translated.`, ...reports.map(formatReport)];
  save("results", "translated", text.join("\n\n"), reports);
}

/** The figures that the test of the scripts compares. */
function pickPinned({ calls, failedCalls, bytes }: TaskResult) {
  return { calls, failedCalls, bytes };
}

async function runEach<R>(
  run: (task: Task, environment: Omit<RunOptions, "agent">) => Promise<R>,
  selected: readonly Task[] = chosen,
): Promise<R[]> {
  const worlds = await createWorldFactory();
  const environment = { worlds, port: Number(options.port), chooseServer: chooseServer(options.server) };
  const results: R[] = [];
  try {
    for (const task of selected) {
      console.error(task.name);
      results.push(await run(task, environment));
    }
  } finally {
    await worlds.close();
  }
  return results;
}

/** Prints a table. If it has all tasks, saves it and its data in a folder beside this file. */
function save(folder: string, name: string, text: string, data: object): void {
  console.log(text);
  if (options.task.length > 0) return;
  const directory = join(import.meta.dirname, folder);
  mkdirSync(directory, { recursive: true });
  const heading = "# Results\n\n<!-- Written by `npm run evals`; README.md explains the columns. -->\n\n";
  writeFileSync(join(directory, `${name}.md`), heading + text);
  writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(data, null, 2)}\n`);
}
