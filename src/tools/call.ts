import { operations } from "../contract/index.ts";
import { type Failure, toFailure, type UpstreamCall } from "../upstream/port.ts";
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
  const head = { operation: name, token: session.token, requestId };
  const admission = await session.upstream.admit(head);
  if (!admission.ok) return refusal(admission.problem);
  const { answer, notes } = await admitted(session, context, { ...head, admission }, args);
  if ("question" in answer) return { result: answer.question, code: "asked" };
  if (!answer.ok) {
    await admission.refuse(answer.problem, args);
    return refusal(explained(name, answer.problem));
  }
  const shown = notes.length === 0 ? answer : { ...answer, notes: [...notes, ...answer.notes] };
  return { result: resultOf(name, shown, session.settings.results, knowsLinks(session, context)), code: "ok" };
}

interface Handled {
  readonly answer: Shown | Failure | Question;
  /** How the arguments were read. */
  readonly notes: readonly string[];
}

/** Works on a call that was let in: only from here on the work may grow with the arguments. */
async function admitted(
  session: ToolSession,
  context: ToolContext,
  head: Omit<UpstreamCall, "input">,
  args: Readonly<Record<string, unknown>>,
): Promise<Handled> {
  const { operation: name } = head;
  const isRead = operations[name].effect === "read";
  try {
    refuseUnoffered(session.settings, name);
    const { input, own, notes } = prepare(name, args);
    const following = followingOf(context);
    const idempotencyKey = isRead ? undefined : idempotencyKeyOf(context);
    const call = { ...head, input, idempotencyKey, signal: following.signal };
    const answer = isRead
      ? await readTool(session, call, own, following)
      : await write(session, context, call, own, following);
    return { answer, notes };
  } catch (error) {
    return { answer: toFailure(error), notes: [] };
  }
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
