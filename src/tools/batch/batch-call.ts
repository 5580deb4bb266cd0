import { type Problem, validationProblem } from "../../contract/errors.ts";
import { type CallName, callNames, isCallName } from "../../contract/index.ts";
import { hashSha256Hex } from "../../lib/crypto/crypto.ts";
import { suggestWord } from "../../lib/did-you-mean.ts";
import { toFailure } from "../../upstream/port.ts";
import { type PreparedToolCall, prepareToolCall } from "../call.ts";
import type { ToolContext, ToolSession } from "../session.ts";
import type { GivenCall } from "./batch-arguments.ts";

/** A call of a batch. */
export interface BatchCall {
  /** Counted from 1. */
  readonly position: number;
  readonly tool: string;
  /** A problem if the call cannot be made. */
  readonly prepared: PreparedToolCall | Problem;
}

/** Prepares a call as if it were made alone. It has an idempotency key of its own, derived from the batch's. */
export function prepareBatchCall(
  session: ToolSession,
  context: ToolContext,
  requestId: string,
  { tool, arguments: args = {} }: GivenCall,
  position: number,
): BatchCall {
  try {
    const head = { operation: requireOperation(tool), token: session.token, identity: session.identity, requestId };
    const prepared = prepareToolCall(session, context, head, args);
    const { idempotencyKey: batchKey } = prepared.call;
    const idempotencyKey = batchKey && hashSha256Hex(JSON.stringify([batchKey, position]));
    return { position, tool, prepared: { ...prepared, call: { ...prepared.call, idempotencyKey } } };
  } catch (error) {
    return { position, tool, prepared: toFailure(error).problem };
  }
}

function requireOperation(tool: string): CallName {
  if (isCallName(tool)) return tool;
  const message = `A batch runs the tools of operations; there is none of this name.${suggestWord(tool, callNames)}`;
  throw validationProblem({ path: "tool", code: "unknown_tool", message });
}
