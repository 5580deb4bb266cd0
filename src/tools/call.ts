import { type CallName, operations } from "../contract/index.ts";
import { isObject } from "../lib/json-value.ts";
import { type Answer, type Failure, type Success, toFailure, type UpstreamCall } from "../upstream/port.ts";
import { prepareArguments } from "./arguments.ts";
import { awaitExport } from "./await-export.ts";
import { type CallControl, createCallControl } from "./call-control.ts";
import { requireOffered } from "./catalog/tool-availability.ts";
import type { ToolOptionValues } from "./catalog/tool-options.ts";
import { canAsk, withConfirmation } from "./confirmation/confirm.ts";
import type { Question } from "./confirmation/question.ts";
import { runWithFieldNames } from "./fields/run-with-field-names.ts";
import { getIdempotencyKey } from "./idempotency.ts";
import { type AnsweredCall, createRefusal, instrumentCall, type ToolResult } from "./instrumented-call.ts";
import { explainRefusal, explainReplay } from "./refusals/explain-refusal.ts";
import { mayHoldNames, resolveNames } from "./resolve-names.ts";
import { selectChanges } from "./results/brief.ts";
import { readTool, showAnswer, type ToolData } from "./results/read.ts";
import { createResult } from "./results/results.ts";
import { listScheduleNotes } from "./results/schedule-notes.ts";
import type { ToolContext, ToolSession } from "./session.ts";
import { describeCreatedConflicts } from "./writes/assignment-conflicts.ts";
import { updateKeptFields } from "./writes/keep-fields.ts";
import { resolveWrite } from "./writes/resolve-write.ts";
import type { ResolvedWrite } from "./writes/resolved-write.ts";

/**
 * Answers a call of an operation's tool: prepares its arguments, asks for confirmation if required, calls the upstream
 * and creates the result.
 */
export function callOperation(
  session: ToolSession,
  context: ToolContext,
  name: CallName,
  args: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  return instrumentCall(session, context, name, (requestId) => answerCall(session, context, requestId, name, args));
}

async function answerCall(
  session: ToolSession,
  context: ToolContext,
  requestId: string,
  name: CallName,
  args: Readonly<Record<string, unknown>>,
): Promise<AnsweredCall> {
  const { token } = session;
  const admission = await session.upstream.admit({ operation: name, token, identity: session.identity, requestId });
  if (!admission.ok) {
    const refused = { operation: name, token, identity: session.identity, requestId, input: args };
    return createRefusal(await explainRefusal(session, refused, admission.problem));
  }
  const callHead = { operation: name, token, identity: admission.identity, requestId, admission };
  const { answer, notes } = await processAdmittedCall(session, context, callHead, args);
  if ("question" in answer) return { result: answer.question, code: "asked" };
  if (!answer.ok) {
    await admission.refuse(answer.problem, args);
    if (answer.replayed) return createRefusal(explainReplay(answer.problem));
    return createRefusal(await explainRefusal(session, { ...callHead, input: args }, answer.problem));
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
  try {
    const prepared = prepareToolCall(session, context, callHead, args);
    const performWrite = (write: ResolvedWrite) => withConfirmation(session, context, write, prepared.options);
    const perform = (call: UpstreamCall) => performToolCall(session, { ...prepared, call }, performWrite);
    const { answer, notes } = await runWithFieldNames(session, prepared.call, perform);
    return { answer, notes: [...prepared.notes, ...notes] };
  } catch (error) {
    return { answer: toFailure(error), notes: [] };
  }
}

/** Performs a call: a read, or a write by the given function, which may ask a question instead. */
export function performToolCall<Asked extends object = never>(
  session: ToolSession,
  prepared: PreparedToolCall,
  performWrite: (write: ResolvedWrite) => Promise<Answer | Asked>,
): Promise<ToolData | Failure | Asked> {
  const { call, options, control } = prepared;
  if (operations[call.operation].effect !== "read") return performWriteCall(session, prepared, performWrite);
  return mayHoldNames(call) ? readByNames(session, prepared) : readTool(session, call, options, control);
}

/** Reads a record or list that the arguments name. */
async function readByNames(
  session: ToolSession,
  { call, options, control }: PreparedToolCall,
): Promise<ToolData | Failure> {
  const named = await resolveNames(session, call);
  if (!named.ok) return named;
  const answer = await readTool(session, named.call, options, control);
  if (!answer.ok || named.notes.length === 0) return answer;
  return { ...answer, notes: [...named.notes, ...answer.notes] };
}

async function performWriteCall<Asked extends object>(
  session: ToolSession,
  prepared: PreparedToolCall,
  performWrite: (write: ResolvedWrite) => Promise<Answer | Asked>,
): Promise<ToolData | Failure | Asked> {
  const write = await resolveWrite(session, prepared);
  if ("ok" in write) return write;
  const answer = await performWrite(write);
  return isSuccess(answer) ? finishWrite(session, prepared, write, answer) : answer;
}

function isSuccess(answer: object): answer is Success {
  return "ok" in answer && answer.ok === true;
}

/** Clients of earlier revisions reject results with unknown content types. */
const linksSince = "2025-06-18";

function supportsResourceLinks(session: ToolSession, { mcpReq, http }: ToolContext): boolean {
  // Only requests of 2026-07-28 and later have an envelope.
  if (mcpReq.envelope) return true;
  const version = session.protocolVersion() ?? http?.req?.headers.get("mcp-protocol-version") ?? "";
  return version >= linksSince;
}

/** A call whose arguments were read. */
export interface PreparedToolCall {
  readonly call: UpstreamCall;
  readonly options: ToolOptionValues;
  readonly notes: readonly string[];
  readonly control: CallControl;
}

/** @throws Problem `tool_not_offered`, `validation_failed` */
export function prepareToolCall(
  session: ToolSession,
  context: ToolContext,
  callHead: Omit<UpstreamCall, "input">,
  args: Readonly<Record<string, unknown>>,
): PreparedToolCall {
  const { operation: name } = callHead;
  requireOffered(session.settings, name);
  const { input, options, notes } = prepareArguments(name, args);
  const control = createCallControl(context);
  const idempotencyKey = operations[name].effect === "read" ? undefined : getIdempotencyKey(context);
  return { call: { ...callHead, input, idempotencyKey, ...control }, options, notes, control };
}

/** Completes an applied write, and returns its record with notes on what was done and what does not fit. */
async function finishWrite(
  session: ToolSession,
  { options, control }: PreparedToolCall,
  write: ResolvedWrite,
  written: Success,
): Promise<ToolData> {
  const { call } = write;
  const waiting = options.wait && call.operation === "create_export" ? control : undefined;
  const { answer, notes } = await completeWrite(session, write, written, waiting);
  const warnings = await listWriteWarnings(session, call, answer.data);
  const selection = options.select ?? selectChanges(call.operation, call.input, answer.data);
  const shown = await showAnswer(session, call, answer, selection.paths);
  const unselected = options.select ? [] : selection.notes;
  const unchanged = listUnchangedNotes(call, answer.data);
  return { ...shown, notes: [...notes, ...unchanged, ...warnings, ...shown.notes, ...unselected] };
}

/** Returns a note if a call has left the record that it names as it was: every change increments the version. */
function listUnchangedNotes({ operation, input }: UpstreamCall, data: unknown): string[] {
  if (input["version"] === undefined || !isObject(data) || data["version"] !== input["version"]) return [];
  const isOther = Object.keys(operations[operation].params.shape).some((name) => data[name] !== input[name]);
  if (isOther) return [];
  const unkept = input["reason"] === undefined ? "" : " A reason is kept only with a change.";
  return [`Nothing changed: the record already was as requested.${unkept}`];
}

/** Does what follows a write: updates the survivor of a merge, or waits for an export if a control is given. */
async function completeWrite(
  session: ToolSession,
  { call, lines, keptFields }: ResolvedWrite,
  written: Success,
  waiting: CallControl | undefined,
): Promise<{ readonly answer: Success; readonly notes: readonly string[] }> {
  if (keptFields) return updateKeptFields(session, call, keptFields, written);
  if (!waiting) return { answer: written, notes: lines };
  const { data, notes } = await awaitExport(session, call, written.data, waiting);
  return { answer: { ...written, data }, notes: [...lines, ...notes] };
}

/** Lists what does not fit after a write: conflicts of interest of new assignments, and dates. */
async function listWriteWarnings(session: ToolSession, call: UpstreamCall, data: unknown): Promise<string[]> {
  // A call that asks has named the conflicts in its question.
  const conflicts = canAsk(session.confirmation, call.operation)
    ? []
    : await describeCreatedConflicts(session, call, data);
  return [...conflicts, ...(await listScheduleNotes(session, call, data))];
}
