import { createScriptedAgent, hasScript } from "../agents/script.ts";
import { type RunOptions, runTask, type TaskResult } from "./run-task.ts";
import type { Task } from "./task.ts";

/** The results of a task's scripts: with the tools of the interface alone, and with workflow tools. */
export interface ScriptResults {
  readonly operations: TaskResult;
  /** The same result if the task has no script of its own for workflow tools. */
  readonly workflows: TaskResult;
}

/** Runs the recorded scripts of a task, each in a world of its own. */
export async function runScripts(task: Task, options: Omit<RunOptions, "agent">): Promise<ScriptResults> {
  const operations = await runTask(task, { ...options, agent: createScriptedAgent("operations") });
  const workflows = hasScript("workflows", task.name)
    ? await runTask(task, { ...options, agent: createScriptedAgent("workflows") })
    : operations;
  return { operations, workflows };
}
