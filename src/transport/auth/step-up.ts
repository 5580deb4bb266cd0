import * as z from "zod";
import type { Scope } from "../../contract/access/scopes.ts";
import { type CallName, isCallName, operations } from "../../contract/index.ts";
import { findPrompt } from "../../resources/prompts.ts";
import { findMissingReadScopes, parseTarget } from "../../resources/target.ts";
import { prepareArguments } from "../../tools/arguments.ts";
import { maxBatchCalls } from "../../tools/batch/batch-arguments.ts";
import type { Identity } from "../../upstream/port.ts";

const Arguments = z.record(z.string(), z.unknown());

/** The parts of a message that determine the required scopes. */
const Message = z.discriminatedUnion("method", [
  z.object({
    method: z.literal("tools/call"),
    params: z.object({ name: z.string(), arguments: Arguments.optional() }),
  }),
  z.object({ method: z.literal("resources/read"), params: z.object({ uri: z.string() }) }),
  z.object({ method: z.literal("prompts/get"), params: z.object({ name: z.string() }) }),
]);

/** Arguments of `call_tool`, which calls another tool. */
const Indirect = z.object({ name: z.string(), arguments: Arguments.optional() });

/** Arguments of `run_batch`, which calls several others. */
const Batch = z.object({
  calls: z.array(z.object({ tool: z.string(), arguments: Arguments.optional() })).max(maxBatchCalls),
});

interface Need {
  readonly name: CallName;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Returns the scopes that a request lacks and its caller can get with a new token. Returns none if a lacking scope cannot
 * be had with any token of the caller: then the tool's answer explains what to do.
 */
export function listScopesToAskFor(
  message: unknown,
  { scopes, attainable }: Identity,
  disabledBySetting: (name: CallName) => string | undefined,
): Scope[] {
  if (!attainable) return [];
  const offered = [message]
    .flat()
    .flatMap(listNeeds)
    .filter(({ name }) => disabledBySetting(name) === undefined);
  const lacking = offered.flatMap(({ name, input }) =>
    findMissingReadScopes(scopes, { operation: operations[name], input }),
  );
  return lacking.every((scope) => attainable.has(scope)) ? [...new Set(lacking)] : [];
}

function listNeeds(message: unknown): Need[] {
  const request = Message.safeParse(message).data;
  switch (request?.method) {
    case "tools/call": {
      const { name, arguments: args = {} } = request.params;
      return listCallNeeds(name, args);
    }
    case "resources/read": {
      const target = parseTarget(request.params.uri);
      return target ? [target] : [];
    }
    case "prompts/get":
      return (findPrompt(request.params.name)?.needs ?? []).map((name) => ({ name, input: {} }));
    default:
      return [];
  }
}

function listCallNeeds(name: string, args: Readonly<Record<string, unknown>>): Need[] {
  if (isCallName(name)) return listDirectNeeds(name, args);
  if (name === "call_tool") {
    const inner = Indirect.safeParse(args).data;
    return inner ? listCallNeeds(inner.name, inner.arguments ?? {}) : [];
  }
  const batch = name === "run_batch" ? Batch.safeParse(args).data : undefined;
  return batch?.calls.flatMap(({ tool, arguments: given = {} }) => listDirectNeeds(tool, given)) ?? [];
}

function listDirectNeeds(name: string, args: Readonly<Record<string, unknown>>): Need[] {
  return isCallName(name) ? [{ name, input: prepareInput(name, args) }] : [];
}

/** Returns the input that a tool derives from its arguments. The call itself reports invalid ones. */
function prepareInput(name: CallName, args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  try {
    return prepareArguments(name, args).input;
  } catch {
    return args;
  }
}
