import { type CallName, callNames, isOperationName, operationNames, operations } from "../../src/contract/index.ts";
import { createId } from "../../src/lib/ids.ts";
import { replaced } from "../support/data/arguments.ts";
import { idsIn, isId, normalizeIds } from "../support/data/normalize.ts";
import { readState } from "../support/data/state.ts";
import type { Arguments, MatrixData } from "./matrix-data.ts";

export interface Tenants {
  readonly own: MatrixData;
  readonly foreign: MatrixData;
}

type Path = readonly string[];

/** Arguments of a call in which one value can be another tenant's, or one that nobody has. */
export interface ForeignValue {
  readonly name: CallName;
  readonly path: Path;
  readonly foreign: string;
  readonly unknown: string;
  /** The arguments with this value in the place of the caller's own. */
  with(value: string): Record<string, unknown>;
}

/** The arguments that calls need beside ids. */
const required: Readonly<Record<string, Arguments>> = { search_records: { words: "open" } };

/** Returns the arguments with which every operation and workflow of a tenant answers with success, by the call's name. */
export function listInputs({ inputs, more }: MatrixData): (readonly [CallName, Arguments])[] {
  const { submissionId } = inputs.get_submission;
  const ids: Arguments = { ...inputs.update_round, submissionId, recordId: submissionId };
  const known: Arguments = { ...ids, submissionIds: [submissionId] };
  const listOtherInputs = (name: CallName) => {
    const { params, queryObject } = operations[name];
    const needed = Object.keys(params.shape);
    const optional = Object.keys(queryObject.shape).filter((key) => /Ids?$/.test(key));
    const given = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, known[key]]));
    const one = name === "list_reviewer_candidates" ? given(["submissionIds"]) : {};
    const base = { ...required[name], ...given(needed), ...one };
    return [base, ...optional.map((key) => ({ ...base, ...given([key]) }))].map((input) => [name, input] as const);
  };
  return [
    ...operationNames.map((name) => [name, inputs[name]] as const),
    ...more,
    ...callNames.filter((name) => !isOperationName(name)).flatMap(listOtherInputs),
  ];
}

/** Returns every place of every call's arguments in which an id stands, with the other tenant's id for it. */
export function listForeignIds({ own, foreign }: Tenants): ForeignValue[] {
  const theirs = listInputs(foreign);
  return listInputs(own).flatMap(([name, input], index) =>
    listIdPaths(input).map((path) => {
      const id = valueAt(theirs[index]?.[1], path) as string;
      return createForeignValue(name, input, path, { foreign: id, unknown: createId(id.slice(0, 3)) });
    }),
  );
}

/**
 * Returns every place in which an address stands, with each address of the other tenant's people for it. Calls that make
 * a record of an address are left out: a second one would find it.
 */
export async function listForeignAddresses({ own, foreign }: Tenants): Promise<ForeignValue[]> {
  const { app, businessId } = foreign.server;
  const reader = app.store.reader(businessId);
  const addresses = [
    ...(await reader.find("persons", {}, { limit: 1 })).map(({ primaryEmail }) => primaryEmail),
    ...(await reader.find("applicants", {}, { limit: 1 })).map(({ email }) => email),
    ...(await reader.find("reviewers", {}, { limit: 1 })).map(({ email }) => email),
    ...(await reader.find("emailSends", {}, { limit: 1 })).map(({ recipientEmail }) => recipientEmail),
  ];
  const known = addresses.filter((address) => typeof address === "string");
  const repeatable = listInputs(own).filter(
    ([name]) => operations[name].effect === "read" || name === "send_bulk_email",
  );
  return repeatable.flatMap(([name, input]) =>
    listPaths(input, (value) => typeof value === "string" && value.includes("@")).flatMap((path) =>
      known.map((address) => {
        const unknown = address.replace(/^./, (letter) => (letter === "x" ? "y" : "x"));
        return createForeignValue(name, input, path, { foreign: address, unknown });
      }),
    ),
  );
}

function createForeignValue(
  name: CallName,
  input: Arguments,
  path: Path,
  values: { readonly foreign: string; readonly unknown: string },
): ForeignValue {
  return { name, path, ...values, with: (value) => replaced(input, path, value) };
}

/** Returns all ids of a tenant's rows, events and audit. */
export async function listTenantIds({ server }: MatrixData): Promise<Set<string>> {
  return idsIn(JSON.stringify(await readState(server.app.store, server.businessId)));
}

const confirmationToken = /[\w-]{22}\.\d{13}\.[\w-]+\.[\w-]+/g;

/** Returns an answer as text. Within an escaped text, an escaped tab or line break would look like an id's first letter. */
export function toPlainText(answer: unknown): string {
  return JSON.stringify(answer).replaceAll(/\\+[nt]/g, " ");
}

/** Returns an answer's text in which the given value, other ids, and what is different in each answer are alike. */
export function normalizeAnswer(answer: unknown, given: string): string {
  const text = toPlainText(answer).replaceAll(confirmationToken, "<token>").replaceAll(given, "<given>");
  return JSON.stringify(normalizeIds(text.replaceAll(given.replaceAll(".", "(.)"), "<given>")));
}

/** Returns where ids stand in arguments. */
export function listIdPaths(value: unknown): Path[] {
  return listPaths(value, isId);
}

function listPaths(value: unknown, matches: (value: unknown) => boolean, path: Path = []): Path[] {
  if (matches(value)) return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => listPaths(inner, matches, [...path, key]));
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((inner, key) => (inner as Record<string, unknown>)[key], value);
}
