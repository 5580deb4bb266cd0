import type { AgentConnection } from "../harness/connection.ts";
import type { HumanRule } from "../harness/human.ts";

/** The parts with which an agent works on a task. */
export interface AgentTask {
  /** The name of the task, and what the human asks. */
  readonly name: string;
  readonly prompt: string;
  readonly connection: AgentConnection;
  /** Answers what the agent asks in the chat. */
  readonly askHuman: HumanRule;
  readonly now: Date;
}

/** Works on a task with the tools of a connection, and returns its last message. */
export type EvalAgent = (assignment: AgentTask) => Promise<string>;
