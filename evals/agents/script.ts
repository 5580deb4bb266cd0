import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import jsonata from "jsonata";
import * as z from "zod";
import { type CallRecord, findPendingQuestion } from "../harness/connection.ts";
import type { AgentTask, EvalAgent } from "./agent.ts";

/**
 * A call that a good agent makes. A text that begins with `=` is a JSONata expression over the data of earlier steps by
 * their names in `as`, the `prompt`, and the texts that the prompt has between quotation marks (`quoted`).
 */
const Step = z.strictObject({
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  /** The name of the result's data for later expressions; of a list of results with `each`. */
  as: z.string().optional(),
  /** One call for each value of this expression, which expressions of the arguments know as `each`. */
  each: z.string().optional(),
  /** No call if this expression is false. */
  if: z.string().optional(),
});
export type Step = z.output<typeof Step>;

/** The steps of a task, and the expression of the agent's last message. */
const Script = z.strictObject({ steps: z.array(Step), answer: z.string() });
type Script = z.output<typeof Script>;

/** The tools that a script uses: those of the interface alone, or also the workflow tools. */
export const scriptSets = ["operations", "workflows"] as const;
export type ScriptSet = (typeof scriptSets)[number];

/** Makes a call of a script, and returns its data as later expressions know it. */
export type CallTool = (
  agentTask: AgentTask,
  tool: string,
  args: Readonly<Record<string, unknown>>,
) => Promise<unknown>;

/** Creates an agent that makes the calls of the recorded scripts of a set. */
export function createScriptedAgent(set: ScriptSet, callTool: CallTool = callAsRecorded): EvalAgent {
  return (agentTask) => new ScriptRun(agentTask, callTool).perform(readScript(set, agentTask.name));
}

/** Returns whether a set has a script of its own for a task. Where workflow tools do not help, it has none. */
export function hasScript(set: ScriptSet, taskName: string): boolean {
  return existsSync(locateScript(set, taskName));
}

export function readScript(set: ScriptSet, taskName: string): Script {
  const path = locateScript(set, taskName);
  const parsed = Script.safeParse(JSON.parse(readFileSync(path, "utf8")));
  if (!parsed.success) throw new Error(`${path} is not a script: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

function locateScript(set: ScriptSet, taskName: string): string {
  return join(import.meta.dirname, "../scripts", set, `${taskName}.json`);
}

class ScriptRun {
  readonly #agentTask: AgentTask;
  readonly #callTool: CallTool;
  readonly #known: Record<string, unknown>;

  constructor(agentTask: AgentTask, callTool: CallTool) {
    this.#agentTask = agentTask;
    this.#callTool = callTool;
    const { prompt } = agentTask;
    this.#known = { prompt, quoted: [...prompt.matchAll(/“([^”]+)”/g)].map(([, text]) => text) };
  }

  async perform({ steps, answer }: Script): Promise<string> {
    for (const step of steps) {
      if (step.if !== undefined && !(await this.#evaluate(step.if))) continue;
      const data: unknown[] = [];
      for (const each of await this.#listTurns(step.each)) {
        this.#known["each"] = each;
        const args = (await this.#fillIn(step.arguments)) as Record<string, unknown>;
        data.push(await this.#callTool(this.#agentTask, step.tool, args));
      }
      if (step.as !== undefined) this.#known[step.as] = step.each === undefined ? data[0] : data;
    }
    return String(await this.#evaluate(answer));
  }

  async #listTurns(each: string | undefined): Promise<readonly unknown[]> {
    if (each === undefined) return [undefined];
    const values = await this.#evaluate(each);
    return Array.isArray(values) ? values : values === undefined ? [] : [values];
  }

  async #fillIn(value: unknown): Promise<unknown> {
    if (typeof value === "string") return value.startsWith("=") ? this.#evaluate(value) : value;
    if (Array.isArray(value)) return Promise.all(value.map((item) => this.#fillIn(item)));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(async ([name, inner]) => [name, await this.#fillIn(inner)] as const);
    return Object.fromEntries(await Promise.all(entries));
  }

  async #evaluate(expression: string): Promise<unknown> {
    const value: unknown = await jsonata(expression.replace(/^=/, "")).evaluate(this.#known);
    // Results of JSONata carry properties of its own.
    return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
  }
}

/** Calls a tool. Where the host cannot ask, shows the human the question and calls again once they agree. */
const callAsRecorded: CallTool = async ({ connection, askHuman }, tool, args) => {
  const call = await connection.call(tool, args);
  const pending = findPendingQuestion(call);
  if (!pending || !askHuman(pending.question).agrees) return readData(call);
  connection.noteAgreement(pending);
  return readData(await connection.call(tool, { ...args, confirmation: pending.token }));
};

/** Returns the data of a result as later expressions know it: `{error}` for a refusal. */
export function readData({ structured, text }: CallRecord): unknown {
  if (structured) return structured["data"];
  try {
    return JSON.parse(text);
  } catch {
    return { error: { code: "unreadable", message: text } };
  }
}
