import {
  type CompleteRequestParams,
  type CompleteResult,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { type AnySchema, type Fields, visitSchema } from "../contract/definition/schema-visitor.ts";
import { type Candidate, type CompletionInput, findCandidates } from "./candidates.ts";
import { findPrompt } from "./prompts.ts";
import type { ResourceReader } from "./session.ts";
import { findMissingReadScopes, type ResourceKind, resourceKinds } from "./target.ts";

/** Most values of a completion (MCP). */
export const maxValues = 100;
const maxTypedChars = 200;

/**
 * Completes a variable of a resource template or an argument of a prompt, by the beginning of the value or a part of
 * its name. Only records that the caller may read are used.
 * @throws ProtocolError for a template, prompt or variable that does not exist
 */
export async function completeArgument(
  reader: ResourceReader,
  { ref, argument, context }: CompleteRequestParams,
): Promise<CompleteResult> {
  const input: CompletionInput = { text: argument.value.slice(0, maxTypedChars), chosen: context?.arguments ?? {} };
  if (ref.type === "ref/prompt") {
    if (!findPrompt(ref.name)?.arguments.some(({ name }) => name === argument.name))
      throw createUnknownError("prompt or argument");
    return filterMatching(await findCandidates(reader, argument.name, input), input);
  }
  const kind = resourceKinds.find(({ template }) => template === ref.uri);
  const schema = kind && getVariableSchema(kind, argument.name);
  if (!schema) throw createUnknownError("resource template or variable");
  const { scopes } = await reader.identify();
  if (findMissingReadScopes(scopes, { operation: kind.operation, input: {} }).length > 0)
    return filterMatching([], input);
  return filterMatching(listChoices(schema) ?? (await findCandidates(reader, argument.name, input)), input);
}

function getVariableSchema({ operation }: ResourceKind, name: string): AnySchema | undefined {
  const shape: Fields = {
    ...operation.queryObject.shape,
    ...operation.params.shape,
  };
  return Object.hasOwn(shape, name) ? shape[name] : undefined;
}

/** Returns the values of an enum or boolean. */
function listChoices(schema: AnySchema): Candidate[] | undefined {
  const toCandidates = (values: readonly string[]) => values.map((value) => ({ value, labels: [] }));
  return visitSchema<Candidate[] | undefined>(schema, {
    boolean: () => toCandidates(["true", "false"]),
    enum: toCandidates,
    other: () => undefined,
  });
}

function filterMatching(candidates: readonly Candidate[], { text }: CompletionInput): CompleteResult {
  const searched = text.toLowerCase();
  const rankCandidate = ({ value, labels }: Candidate) => {
    if (value.toLowerCase().startsWith(searched)) return 0;
    return labels.some((label) => label?.toLowerCase().includes(searched)) ? 1 : 2;
  };
  const ranked = candidates.map((candidate) => ({ candidate, rank: rankCandidate(candidate) }));
  const matching = ranked.filter(({ rank }) => rank < 2).sort((a, b) => a.rank - b.rank);
  const values = [...new Set(matching.map(({ candidate }) => candidate.value))].filter((value) => value !== "");
  return {
    completion: { values: values.slice(0, maxValues), total: values.length, hasMore: values.length > maxValues },
  };
}

function createUnknownError(what: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown ${what}`);
}
