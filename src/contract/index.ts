import * as assignments from "./assignments.ts";
import * as audit from "./audit.ts";
import * as emails from "./emails.ts";
import * as exports_ from "./exports.ts";
import * as feedback from "./feedback.ts";
import * as files from "./files.ts";
import { assertFlat, type InputOf, type Operation, type ResultOf } from "./operation.ts";
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

export type OperationName = keyof Contract & string;
export type Input<Name extends OperationName> = Contract[Name] extends Operation ? InputOf<Contract[Name]> : never;
export type EffectOf<Name extends OperationName> = Contract[Name]["effect"];
export type Result<Name extends OperationName> = Contract[Name] extends Operation ? ResultOf<Contract[Name]> : never;

const toolsets = new Map<string, Toolset>();

/** Every operation of the interface by name. Declaring a name twice throws. */
export const contract: Contract = (() => {
  const all: Record<string, Operation> = {};
  for (const [toolset, module] of Object.entries(nouns)) {
    for (const [name, value] of Object.entries(module as Record<string, unknown>)) {
      if (!isOperation(value)) continue;
      if (all[name]) throw new Error(`Operation ${name} is declared twice`);
      assertFlat(name, value);
      all[name] = value;
      toolsets.set(name, toolset as Toolset);
    }
  }
  return all as unknown as Contract;
})();

/** The same operations without their literal types, for code that treats them all alike. */
export const operations = contract as unknown as Readonly<Record<OperationName, Operation>>;

export const operationNames = Object.keys(contract) as OperationName[];

export const toolsetNames = Object.keys(nouns) as Toolset[];

/** The toolset that an operation belongs to. */
export function toolsetOf(name: OperationName): Toolset {
  return toolsets.get(name) as Toolset;
}

function isOperation(value: unknown): value is Operation {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "operation";
}
