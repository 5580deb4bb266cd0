import { operations } from "../contract/index.ts";
import { type Failure, toFailure, type UpstreamCall } from "../upstream/port.ts";
import { explainRefusal, prepareArguments } from "./arguments.ts";
import { awaitExport } from "./await-export.ts";
import { type CallControl, createCallControl } from "./call-control.ts";
import type { ToolName } from "./catalog/definitions.ts";
import { requireOffered } from "./catalog/tool-availability.ts";
import { connectionName } from "./catalog/tool-catalog.ts";
import type { ToolOptionValues } from "./catalog/tool-options.ts";
import { type Question, withConfirmation } from "./confirmation/confirm.ts";
import { callConnection } from "./connection.ts";
import { createFieldDeclarations } from "./fields/declared-fields.ts";
import { mayNameFields, translateFieldNames } from "./fields/translate-fields.ts";
import { getIdempotencyKey } from "./idempotency.ts";
import { type AnsweredCall, createRefusal, instrumentCall, type ToolResult } from "./instrumented-call.ts";
import { selectChanges } from "./results/brief.ts";
import { readTool, showAnswer, type ToolData } from "./results/read.ts";
import { createResult } from "./results/results.ts";
import type { ToolContext, ToolSession } from "./session.ts";

/**
 * Answers a tool call: prepares its arguments, asks for confirmation if required, calls the upstream and creates the
 * result.
 */
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
  const { token } = session;
  const admission = await session.upstream.admit({ operation: name, token, identity: session.identity, requestId });
  if (!admission.ok) return createRefusal(admission.problem);
  const callHead = { operation: name, token, identity: admission.identity, requestId, admission };
  const { answer, notes } = await processAdmittedCall(session, context, callHead, args);
  if ("question" in answer) return { result: answer.question, code: "asked" };
  if (!answer.ok) {
    await admission.refuse(answer.problem, args);
    return createRefusal(explainRefusal(name, answer.problem));
  }
  const data = notes.length === 0 ? answer : { ...answer, notes: [...notes, ...answer.notes] };
  return {
    result: createResult(name, data, session.settings.results, supportsResourceLinks(session, context)),
    code: "ok",
  };
}

interface ProcessedCall {
  readonly answer: ToolData | Failure | Question;
  /** Notes on how the arguments were read. */
  readonly notes: readonly string[];
}

/** Processes an admitted call. Work that grows with the arguments starts only here. */
async function processAdmittedCall(
  session: ToolSession,
  context: ToolContext,
  callHead: Omit<UpstreamCall, "input">,
  args: Readonly<Record<string, unknown>>,
): Promise<ProcessedCall> {
  const { operation: name } = callHead;
  const isRead = operations[name].effect === "read";
  try {
    requireOffered(session.settings, name);
    const { input, options, notes } = prepareArguments(name, args);
    const control = createCallControl(context);
    const idempotencyKey = isRead ? undefined : getIdempotencyKey(context);
    const call = { ...callHead, input, idempotencyKey, ...control };
    const run = (each: UpstreamCall) =>
      isRead ? readTool(session, each, options, control) : callWrite(session, context, each, options, control);
    const { answer, notes: translations } = await runWithFieldNames(session, call, run);
    return { answer, notes: [...notes, ...translations] };
  } catch (error) {
    return { answer: toFailure(error), notes: [] };
  }
}

/**
 * Runs a call, and again with field ids in place of keys and labels if it is invalid as it is. A call that may need
 * confirmation is translated first, because a confirmation is bound to the input.
 */
async function runWithFieldNames(
  session: ToolSession,
  call: UpstreamCall,
  run: (call: UpstreamCall) => Promise<ProcessedCall["answer"]>,
): Promise<ProcessedCall> {
  if (!mayNameFields(call.input)) return { answer: await run(call), notes: [] };
  const translate = () => translateFieldNames(call, createFieldDeclarations(session, call));
  const asks = operations[call.operation].confirm?.(call.input) !== undefined;
  const first = asks ? await translate() : undefined;
  const answer = await run(first ? { ...call, input: first.input } : call);
  if (asks || "question" in answer || answer.ok || answer.problem.code !== "validation_failed")
    return { answer, notes: first?.notes ?? [] };
  const translated = await translate();
  if (!translated) return { answer, notes: [] };
  return { answer: await run({ ...call, input: translated.input }), notes: translated.notes };
}

/** Clients of earlier revisions reject results with unknown content types. */
const linksSince = "2025-06-18";

function supportsResourceLinks(session: ToolSession, { mcpReq, http }: ToolContext): boolean {
  // Only requests of 2026-07-28 and later have an envelope.
  if (mcpReq.envelope) return true;
  const version = session.protocolVersion() ?? http?.req?.headers.get("mcp-protocol-version") ?? "";
  return version >= linksSince;
}

async function callWrite(
  session: ToolSession,
  context: ToolContext,
  call: UpstreamCall,
  options: ToolOptionValues,
  control: CallControl,
): Promise<ToolData | Failure | Question> {
  const answer = await withConfirmation(session, context, call, options.confirmation);
  if ("question" in answer || !answer.ok) return answer;
  const { data, notes } = options.wait
    ? await awaitExport(session, call, answer.data, control)
    : { data: answer.data, notes: [] };
  const shown = options.select ?? selectChanges(call.operation, call.input, data);
  const toolData = await showAnswer(session, call, { ...answer, data }, shown.paths);
  return { ...toolData, notes: [...toolData.notes, ...(options.select ? [] : shown.notes), ...notes] };
}
