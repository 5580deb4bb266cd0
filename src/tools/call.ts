import { operations } from "../contract/index.ts";
import { type Failure, toFailure, type UpstreamCall } from "../upstream/port.ts";
import { explainRefusal, prepareArguments } from "./arguments.ts";
import { awaitExport } from "./await-export.ts";
import { type CallControl, createCallControl } from "./call-control.ts";
import type { ToolName } from "./catalog/definitions.ts";
import { requireOffered } from "./catalog/tool-availability.ts";
import { connectionName } from "./catalog/tool-catalog.ts";
import type { OwnArguments } from "./catalog/tool-options.ts";
import { type Question, withConfirmation } from "./confirmation/confirm.ts";
import { callConnection } from "./connection.ts";
import { getIdempotencyKey } from "./idempotency.ts";
import { type AnsweredCall, createRefusal, instrumentCall, type ToolResult } from "./instrumented-call.ts";
import { readTool, type ShownData, showData } from "./results/read.ts";
import { createResult } from "./results/results.ts";
import type { ToolContext, ToolSession } from "./session.ts";

/** Answers one tool call: arguments made ready, confirmation where it is due, the call, and its result. */
export function callTool(
  session: ToolSession,
  context: ToolContext,
  name: ToolName,
  args: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  return instrumentCall(session, context, name, (requestId) => answerCall(session, context, requestId, name, args));
}

async function answerCall(
  session: ToolSession,
  context: ToolContext,
  requestId: string,
  name: ToolName,
  args: Readonly<Record<string, unknown>>,
): Promise<AnsweredCall> {
  if (name === connectionName) return { result: await callConnection(session, context, args), code: "ok" };
  const head = { operation: name, token: session.token, requestId };
  const admission = await session.upstream.admit(head);
  if (!admission.ok) return createRefusal(admission.problem);
  const { answer, notes } = await answerAdmitted(session, context, { ...head, admission }, args);
  if ("question" in answer) return { result: answer.question, code: "asked" };
  if (!answer.ok) {
    await admission.refuse(answer.problem, args);
    return createRefusal(explainRefusal(name, answer.problem));
  }
  const shown = notes.length === 0 ? answer : { ...answer, notes: [...notes, ...answer.notes] };
  return {
    result: createResult(name, shown, session.settings.results, supportsResourceLinks(session, context)),
    code: "ok",
  };
}

interface Handled {
  readonly answer: ShownData | Failure | Question;
  /** How the arguments were read. */
  readonly notes: readonly string[];
}

/** Works on a call that was let in: only from here on the work may grow with the arguments. */
async function answerAdmitted(
  session: ToolSession,
  context: ToolContext,
  head: Omit<UpstreamCall, "input">,
  args: Readonly<Record<string, unknown>>,
): Promise<Handled> {
  const { operation: name } = head;
  const isRead = operations[name].effect === "read";
  try {
    requireOffered(session.settings, name);
    const { input, own, notes } = prepareArguments(name, args);
    const following = createCallControl(context);
    const idempotencyKey = isRead ? undefined : getIdempotencyKey(context);
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

function supportsResourceLinks(session: ToolSession, { mcpReq, http }: ToolContext): boolean {
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
  following: CallControl,
): Promise<ShownData | Failure | Question> {
  const answer = await withConfirmation(session, context, call, own.confirmation);
  if ("question" in answer || !answer.ok) return answer;
  const { data, notes } = own.wait
    ? await awaitExport(session, call, answer.data, following)
    : { data: answer.data, notes: [] };
  const shown = showData(call.operation, { ...answer, data }, undefined, session.settings.resultBytes);
  return { ...shown, notes: [...shown.notes, ...notes] };
}
