import type { EvalAgent } from "../agents/agent.ts";
import { AgentConnection, type ServerTarget } from "./connection.ts";
import { openFlakyServer } from "./flaky-server.ts";
import { acceptAll, type HumanRule } from "./human.ts";
import { countListTokens, measureCalls, type TaskMetrics } from "./metrics.ts";
import type { Preparation, Task, TaskKind } from "./task.ts";
import type { World, WorldFactory } from "./world.ts";

/** The outcome of a task. */
export interface TaskResult extends TaskMetrics {
  readonly task: string;
  readonly kind: TaskKind;
  readonly done: boolean;
  /** The faults of the outcome. */
  readonly findings: readonly string[];
  readonly questions: number;
  readonly listTokens: number;
}

export interface RunOptions {
  readonly worlds: WorldFactory;
  readonly agent: EvalAgent;
  /** Returns the MCP server to try on a world. Default: the service's own. */
  readonly chooseServer?: ((world: World) => ServerTarget) | undefined;
  readonly port?: number | undefined;
}

/** Runs one task in a world of its own. */
export async function runTask(task: Task, options: RunOptions): Promise<TaskResult> {
  const world = await options.worlds.open({ now: task.now, scopes: task.scopes, port: options.port });
  const flaky = task.flaky ? await openFlakyServer(world) : undefined;
  try {
    const preparation = (await task.prepare?.(world)) ?? {};
    const target = flaky?.target ?? options.chooseServer?.(world) ?? { url: `${world.origin}/mcp` };
    return await runAgent({ task, world, preparation, target, agent: options.agent });
  } finally {
    await flaky?.close();
    await world.close();
  }
}

interface PreparedTask {
  readonly task: Task;
  readonly world: World;
  readonly preparation: Preparation;
  readonly target: ServerTarget;
  readonly agent: EvalAgent;
}

async function runAgent({ task, world, preparation, target, agent }: PreparedTask): Promise<TaskResult> {
  const { names = {}, subjects = [], human: rule = acceptAll, interfere = async () => undefined } = preparation;
  const prompt = task.prompt.replace(/\{(\w+)\}/g, (_, name: string) => String(names[name]));
  const questions: string[] = [];
  const human: HumanRule = (question) => {
    questions.push(question);
    return rule(question);
  };
  const elicitation = task.kind !== "chat confirmation";
  const connection = new AgentConnection({ world, target, human, elicitation, beforeCall: interfere });
  try {
    await connection.open();
    const { answer, failure } = await workOn(() =>
      agent({ name: task.name, prompt, connection, askHuman: human, now: world.now() }),
    );
    const metrics = measureCalls(connection.calls, prompt);
    const findings = [
      ...failure,
      ...(await task.check({ world, names, subjects, answer, questions })),
      ...(metrics.calls > task.limits.calls ? [`${metrics.calls} calls, of at most ${task.limits.calls}`] : []),
      ...(metrics.bytes > task.limits.bytes ? [`${metrics.bytes} bytes, of at most ${task.limits.bytes}`] : []),
    ];
    const listTokens = countListTokens(connection.tools);
    const { name, kind } = task;
    return {
      task: name,
      kind,
      done: findings.length === 0,
      findings,
      questions: questions.length,
      listTokens,
      ...metrics,
    };
  } finally {
    await connection.close();
  }
}

/** An agent that fails has not done its task; the others go on. */
async function workOn(work: () => Promise<string>): Promise<{ answer: string; failure: string[] }> {
  try {
    return { answer: await work(), failure: [] };
  } catch (error) {
    return { answer: "", failure: [`The agent failed: ${error}`] };
  }
}
