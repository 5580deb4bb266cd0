import {
  type CompleteRequestParams,
  type CompleteResult,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type * as z from "zod";
import { unwrap } from "../contract/definition/field-annotations.ts";
import { type Candidate, findCandidates, type Typed } from "./candidates.ts";
import { findPrompt } from "./prompts.ts";
import type { Reading } from "./session.ts";
import { findMissingReadScopes, kinds, type ResourceKind } from "./target.ts";

/** As many as an answer may hold (MCP). */
export const maxValues = 100;
const maxTypedChars = 200;

/**
 * Values for a variable of a resource template or an argument of a prompt: by the beginning of the value, or by a part
 * of the name behind it. Only from what the caller may read; of what it may not, none.
 * @throws ProtocolError for a template, prompt or variable that does not exist
 */
export async function completeArgument(
  reading: Reading,
  { ref, argument, context }: CompleteRequestParams,
): Promise<CompleteResult> {
  const typed: Typed = { text: argument.value.slice(0, maxTypedChars), chosen: context?.arguments ?? {} };
  if (ref.type === "ref/prompt") {
    if (!findPrompt(ref.name)?.arguments.some(({ name }) => name === argument.name))
      throw createUnknownError("prompt or argument");
    return filterMatching(await findCandidates(reading, argument.name, typed), typed);
  }
  const kind = kinds.find(({ template }) => template === ref.uri);
  const schema = kind && getVariableSchema(kind, argument.name);
  if (!schema) throw createUnknownError("resource template or variable");
  const { scopes } = await reading.identify();
  if (findMissingReadScopes(scopes, { operation: kind.operation, input: {} }).length > 0)
    return filterMatching([], typed);
  return filterMatching(listChoices(schema) ?? (await findCandidates(reading, argument.name, typed)), typed);
}

function getVariableSchema({ operation }: ResourceKind, name: string): z.core.$ZodType | undefined {
  const shape: Readonly<Record<string, z.core.$ZodType>> = {
    ...operation.queryObject.shape,
    ...operation.params.shape,
  };
  return Object.hasOwn(shape, name) ? shape[name] : undefined;
}

/** The values of a variable that has few. */
function listChoices(schema: z.core.$ZodType): Candidate[] | undefined {
  const { type, entries } = unwrap(schema)._zod.def as { type: string; entries?: Readonly<Record<string, string>> };
  if (type === "boolean")
    return [
      { value: "true", labels: [] },
      { value: "false", labels: [] },
    ];
  return entries && Object.values(entries).map((value) => ({ value, labels: [] }));
}

function filterMatching(candidates: readonly Candidate[], { text }: Typed): CompleteResult {
  const wanted = text.toLowerCase();
  const rankCandidate = ({ value, labels }: Candidate) => {
    if (value.toLowerCase().startsWith(wanted)) return 0;
    return labels.some((label) => label?.toLowerCase().includes(wanted)) ? 1 : 2;
  };
  const ranked = candidates.map((candidate) => ({ candidate, rank: rankCandidate(candidate) }));
  const found = ranked.filter(({ rank }) => rank < 2).sort((a, b) => a.rank - b.rank);
  const values = [...new Set(found.map(({ candidate }) => candidate.value))].filter((value) => value !== "");
  return {
    completion: { values: values.slice(0, maxValues), total: values.length, hasMore: values.length > maxValues },
  };
}

function createUnknownError(what: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown ${what}`);
}
