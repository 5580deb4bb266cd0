import type { Scope } from "../../src/contract/access/scopes.ts";
import type { HumanRule } from "./human.ts";
import type { World } from "./world.ts";

/** The kinds of tasks. The first two are work of a foundation's staff; their sums are compared with the goal. */
export type TaskKind =
  | "reading"
  | "writing"
  | "privacy"
  | "injection"
  | "refusal"
  | "conflict"
  | "flaky upstream"
  | "chat confirmation";

export interface Task {
  readonly name: string;
  readonly kind: TaskKind;
  /** The request to the agent, in a person's words. `{name}` stands for a name that `prepare` chose. */
  readonly prompt: string;
  readonly limits: { readonly calls: number; readonly bytes: number };
  /** The present, ISO. Default: the day on which the demonstration data ends. */
  readonly now?: string;
  /** Scopes of the agent's token. Default: all. */
  readonly scopes?: readonly Scope[];
  /** True if the tools work on a remote service whose connection fails now and then. */
  readonly flaky?: boolean;
  /** Prepares the world over public interfaces, and chooses the records that the task is about. */
  prepare?(world: World): Promise<Preparation>;
  /** Returns what is missing or wrong; nothing if the task is done. */
  check(outcome: Outcome): Promise<string[]>;
}

/** The records that a task is about in the data of its world. */
export interface Preparation {
  /** Titles and names for the prompt. */
  readonly names?: Readonly<Record<string, string>>;
  /** Ids that the check is about. */
  readonly subjects?: readonly string[];
  /** The human's answers to questions. Default: agrees. */
  readonly human?: HumanRule;
  /** Runs before each of the agent's calls, which it gets as text: what colleagues do while the agent works. */
  readonly interfere?: (call: string) => Promise<void>;
}

/** The records that are left after an agent has worked. */
export interface Outcome {
  readonly world: World;
  readonly names: Readonly<Record<string, string>>;
  readonly subjects: readonly string[];
  /** The agent's last message. */
  readonly answer: string;
  /** Questions that the human was asked. */
  readonly questions: readonly string[];
}
