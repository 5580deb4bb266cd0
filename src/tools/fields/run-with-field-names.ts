import { operations } from "../../contract/index.ts";
import type { Failure, UpstreamCall } from "../../upstream/port.ts";
import type { ToolSession } from "../session.ts";
import { createFieldDeclarations } from "./declared-fields.ts";
import { mayNameFields, translateFieldNames } from "./translate-fields.ts";

interface TranslatedCall {
  readonly call: UpstreamCall;
  readonly notes: readonly string[];
}

/**
 * Runs a call, and again with field ids in place of keys and labels if it is invalid as it is. A call that may need
 * confirmation is translated first, because a confirmation is bound to the input.
 * @returns the answer, and notes on the names that were translated
 */
export async function runWithFieldNames<Answer extends object>(
  session: ToolSession,
  call: UpstreamCall,
  run: (call: UpstreamCall) => Promise<Answer | Failure>,
): Promise<{ readonly answer: Answer | Failure; readonly notes: readonly string[] }> {
  if (!mayNameFields(call)) return { answer: await run(call), notes: [] };
  const first = await translateConfirmedCall(session, call);
  const answer = await run(first.call);
  if (isConfirmed(call) || !isInvalid(answer)) return { answer, notes: first.notes };
  const translated = await translate(session, call);
  return translated ? { answer: await run(translated.call), notes: translated.notes } : { answer, notes: [] };
}

/** Returns a call that may need confirmation with field ids in place of keys and labels, and any other call as it is. */
export async function translateConfirmedCall(session: ToolSession, call: UpstreamCall): Promise<TranslatedCall> {
  const translated = mayNameFields(call) && isConfirmed(call) ? await translate(session, call) : undefined;
  return translated ?? { call, notes: [] };
}

async function translate(session: ToolSession, call: UpstreamCall): Promise<TranslatedCall | undefined> {
  const translated = await translateFieldNames(call, createFieldDeclarations(session, call));
  return translated && { call: { ...call, input: translated.input }, notes: translated.notes };
}

function isConfirmed({ operation, input }: UpstreamCall): boolean {
  try {
    return operations[operation].confirm?.(input) !== undefined;
  } catch {
    // Input that is not validated yet can have values that no text can be made of. The call itself rejects it.
    return false;
  }
}

function isInvalid(answer: object): boolean {
  return "problem" in answer && (answer as Failure).problem.code === "validation_failed";
}
