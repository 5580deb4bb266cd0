import * as assignments from "./assignments.ts";
import * as audit from "./audit.ts";
import { assertFlat, type InputOf, type Operation, type ResultOf } from "./definition/operation.ts";
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

export type Toolset = keyof typeof nouns;

type OperationsOf<Module> = {
  [Name in keyof Module as Module[Name] extends { kind: "operation" } ? Name : never]: Module[Name];
};
type Union<T> = T extends unknown ? (merged: T) => void : never;
type Merged<T> = Union<T> extends (merged: infer All) => void ? { [K in keyof All]: All[K] } : never;
type Contract = Merged<{ [Noun in Toolset]: OperationsOf<(typeof nouns)[Noun]> }[Toolset]>;

/** What agents can call beside the interface: it has no route. */
const additions = { list_events };
const toolsetOfAdditions: Toolset = "audit";

type Callable = Contract & typeof additions;

/** An operation of the interface. */
export type OperationName = keyof Contract & string;
/** Whatever can be called. */
export type CallName = keyof Callable & string;
export type Input<Name extends CallName> = Callable[Name] extends Operation ? InputOf<Callable[Name]> : never;
export type EffectOf<Name extends CallName> = Callable[Name]["effect"];
export type Result<Name extends CallName> = Callable[Name] extends Operation ? ResultOf<Callable[Name]> : never;

const toolsets = new Map<string, Toolset>();

/** Every operation of the interface by name. Declaring a name twice throws. */
const contract: Contract = (() => {
  const all: Record<string, Operation> = {};
  for (const [toolset, module] of Object.entries(nouns)) {
    // By name, which is how modules list what they export; tools that bundle or transform them may not.
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

/** Whatever can be called, without literal types, for code that treats it all alike. */
export const operations = { ...contract, ...additions } as unknown as Readonly<Record<CallName, Operation>>;

export const operationNames = Object.keys(contract) as OperationName[];

/** The interface's operations in their order, then what can be called beside them. */
export const callNames = Object.keys(operations) as CallName[];

export const toolsetNames = Object.keys(nouns) as Toolset[];

/** The toolset that whatever can be called belongs to. */
export function getToolset(name: CallName): Toolset {
  return toolsets.get(name) ?? toolsetOfAdditions;
}

/** Whether a name is that of something that can be called. */
export function isCallName(name: string): name is CallName {
  return Object.hasOwn(operations, name);
}

/** Whether a name is that of an operation of the interface. */
export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(contract, name);
}

function isOperation(value: unknown): value is Operation {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "operation";
}
