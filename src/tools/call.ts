import { operations } from "../contract/index.ts";
import type { Failure, UpstreamCall } from "../upstream/port.ts";
import { explained, prepare } from "./arguments.ts";
import { type Question, withConfirmation } from "./confirm.ts";
import { callConnection } from "./connection.ts";
import type { ToolName } from "./definitions.ts";
import { idempotencyKeyOf } from "./idempotency.ts";
import { connectionName } from "./listing.ts";
import { refuseUnoffered } from "./offer.ts";
import type { OwnArguments } from "./own.ts";
import { type Following, followingOf } from "./progress.ts";
import { readTool, type Shown, showData } from "./read.ts";
import { resultOf } from "./results.ts";
import type { ToolContext, ToolSession } from "./session.ts";
import { waitForExport } from "./wait.ts";
import { type Answered, refusal, type ToolResult, watched } from "./watched.ts";

/** Answers one tool call: arguments made ready, confirmation where it is due, the call, and its result. */
export function callTool(
  session: ToolSession,
  context: ToolContext,
  name: ToolName,
  args: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  return watched(session, context, name, (requestId) => answered(session, context, requestId, name, args));
}

async function answered(
  session: ToolSession,
  context: ToolContext,
  requestId: string,
  name: ToolName,
  args: Readonly<Record<string, unknown>>,
): Promise<Answered> {
  if (name === connectionName) return { result: await callConnection(session, context, args), code: "ok" };
  refuseUnoffered(session.settings, name);
  const { input, own, notes } = prepare(name, args);
  const following = followingOf(context);
  const call = {
    operation: name,
    input,
    token: session.token,
    requestId,
    idempotencyKey: operations[name].effect === "read" ? undefined : idempotencyKeyOf(context),
    signal: following.signal,
  };
  const answer =
    operations[name].effect === "read"
      ? await readTool(session, call, own, following)
      : await write(session, context, call, own, following);
  if ("question" in answer) return { result: answer.question, code: "asked" };
  if (!answer.ok) return refusal(explained(name, answer.problem));
  const shown = notes.length === 0 ? answer : { ...answer, notes: [...notes, ...answer.notes] };
  return { result: resultOf(name, shown, session.settings.results, knowsLinks(session, context)), code: "ok" };
}

/** Clients of revisions before this one refuse results with content that they do not know. */
const linksSince = "2025-06-18";

function knowsLinks(session: ToolSession, { mcpReq, http }: ToolContext): boolean {
  // Only requests of 2026-07-28 and later bring an envelope.
  if (mcpReq.envelope) return true;
  const version = session.protocolVersion() ?? http?.req?.headers.get("mcp-protocol-version") ?? "";
  return version >= linksSince;
}

async function write(
  session: ToolSession,
  context: ToolContext,
  call: UpstreamCall,
  own: OwnArguments,
  following: Following,
): Promise<Shown | Failure | Question> {
  const answer = await withConfirmation(session, context, call, own.confirmation);
  if ("question" in answer || !answer.ok) return answer;
  const { data, notes } = own.wait
    ? await waitForExport(session, call, answer.data, following)
    : { data: answer.data, notes: [] };
  const shown = showData(call.operation, { ...answer, data }, undefined, session.settings.resultBytes);
  return { ...shown, notes: [...shown.notes, ...notes] };
}
