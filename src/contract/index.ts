import * as assignments from "./assignments.ts";
import * as audit from "./audit.ts";
import { assertFlat, type InputOf, type Operation, type ResultOf } from "./definition/operation.ts";
import type { Workflow } from "./definition/workflow.ts";
import * as emails from "./emails.ts";
import { list_events } from "./event-log.ts";
import * as exports_ from "./exports.ts";
import * as feedback from "./feedback.ts";
import * as files from "./files.ts";
import * as payments from "./payments.ts";
import * as persons from "./persons.ts";
import * as programs from "./programs.ts";
import * as reviewers from "./reviewers.ts";
import * as reviews from "./reviews.ts";
import * as schemas from "./schemas.ts";
import * as submissions from "./submissions.ts";
import * as supplements from "./supplements.ts";
import { workflowDeclarations } from "./workflows/index.ts";

/** The nouns of the interface. Each is a toolset; their order is the order of the tools. */
const nouns = {
  programs,
  submissions,
  supplements,
  files,
  payments,
  persons,
  reviewers,
  assignments,
  reviews,
  feedback,
  schemas,
  emails,
  exports: exports_,
  audit,
};

/** The nouns, and the workflows. */
export type Toolset = Noun | typeof toolsetOfWorkflows;
type Noun = keyof typeof nouns;

type OperationsOf<Module> = {
  [Name in keyof Module as Module[Name] extends { kind: "operation" } ? Name : never]: Module[Name];
};
type Union<T> = T extends unknown ? (merged: T) => void : never;
type Merged<T> = Union<T> extends (merged: infer All) => void ? { [K in keyof All]: All[K] } : never;
type Contract = Merged<{ [N in Noun]: OperationsOf<(typeof nouns)[N]> }[Noun]>;

/** Operations for agents that are not part of the REST interface. */
const additions = { list_events };
const toolsetOfAdditions: Toolset = "audit";
const toolsetOfWorkflows = "workflows";

type Callable = Contract & typeof additions & typeof workflowDeclarations;

export type OperationName = keyof Contract & string;
/** The name of an operation of the interface, of an addition or of a workflow. */
export type CallName = keyof Callable & string;
export type WorkflowName = keyof typeof workflowDeclarations;
/** The name of a call that a handler of the service answers. */
export type HandledName = Exclude<CallName, WorkflowName>;
export type Input<Name extends CallName> = Callable[Name] extends Operation ? InputOf<Callable[Name]> : never;
export type EffectOf<Name extends CallName> = Callable[Name]["effect"];
export type Result<Name extends CallName> = Callable[Name] extends Operation ? ResultOf<Callable[Name]> : never;

const toolsets = new Map<string, Toolset>();

/** Every operation of the interface by name. Throws if two nouns declare the same name. */
const contract: Contract = (() => {
  const all: Record<string, Operation> = {};
  for (const [toolset, module] of Object.entries(nouns)) {
    // Sorted by name, as the language orders a module's exports: bundlers may keep another order.
    for (const [name, value] of Object.entries(module as Record<string, unknown>).sort(([a], [b]) =>
      a < b ? -1 : 1,
    )) {
      if (!isOperation(value)) continue;
      if (all[name]) throw new Error(`Operation ${name} is declared twice`);
      assertFlat(name, value);
      all[name] = value;
      toolsets.set(name, toolset as Toolset);
    }
  }
  return all as unknown as Contract;
})();

/** All operations, typed without literals for code that handles them uniformly. */
export const operations = { ...contract, ...additions, ...workflowDeclarations } as unknown as Readonly<
  Record<CallName, Operation>
>;

export const workflowNames = Object.keys(workflowDeclarations) as WorkflowName[];

/** All workflows, typed without literals. */
export const workflows: Readonly<Record<WorkflowName, Workflow<OperationName>>> = workflowDeclarations;

export const operationNames = Object.keys(contract) as OperationName[];

/** Names of the interface's operations in their order, followed by the additions and the workflows. */
export const callNames = Object.keys(operations) as CallName[];

/** The audit actions of all calls, in alphabetical order. */
export const auditActions: readonly string[] = [...new Set(callNames.map((name) => operations[name].audit))].sort();

export const nounNames = Object.keys(nouns) as Noun[];

export function getToolset(name: CallName): Toolset {
  return isWorkflowName(name) ? toolsetOfWorkflows : (toolsets.get(name) ?? toolsetOfAdditions);
}

export function isWorkflowName(name: string): name is WorkflowName {
  return Object.hasOwn(workflowDeclarations, name);
}

export function isCallName(name: string): name is CallName {
  return Object.hasOwn(operations, name);
}

/** Returns whether a name is that of an operation of the interface. */
export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(contract, name);
}

function isOperation(value: unknown): value is Operation {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "operation";
}
