import { Problem } from "../../contract/errors.ts";
import { measureJsonBytes } from "../../lib/json-cache.ts";
import { type Failure, toFailure, type UpstreamCall } from "../../upstream/port.ts";
import { performToolCall } from "../call.ts";
import { createCallControl } from "../call-control.ts";
import {
  describeConfirmedCall,
  isAgreement,
  readAgreement,
  requestAgreement,
  withdrawAgreement,
} from "../confirmation/confirm.ts";
import { type Agreement, selectConfirmation } from "../confirmation/confirmation-token.ts";
import type { Question } from "../confirmation/question.ts";
import { runWithFieldNames } from "../fields/run-with-field-names.ts";
import { type AnsweredCall, createRefusal, instrumentCall, type ToolResult } from "../instrumented-call.ts";
import { explainRefusal } from "../refusals/explain-refusal.ts";
import type { ToolContext, ToolSession } from "../session.ts";
import type { ResolvedWrite } from "../writes/resolved-write.ts";
import { type BatchArguments, parsePositions, readBatchArguments } from "./batch-arguments.ts";
import { type BatchCall, prepareBatchCall } from "./batch-call.ts";
import { type BatchRow, createBatchResult } from "./batch-result.ts";
import { type BatchPlan, createBatchQuestion, listLongTexts, performBatchWrite, planBatch } from "./confirm-batch.ts";

/**
 * Answers `run_batch`: makes its calls one after the other, each as if it were made alone. All calls that need an
 * agreement are confirmed by one question.
 */
export function callBatch(
  session: ToolSession,
  context: ToolContext,
  rawArgs: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  return instrumentCall(session, context, "run_batch", (requestId) =>
    answerBatch(session, context, requestId, rawArgs),
  );
}

async function answerBatch(
  session: ToolSession,
  context: ToolContext,
  requestId: string,
  rawArgs: Readonly<Record<string, unknown>>,
): Promise<AnsweredCall> {
  const args = readBatchArguments(rawArgs);
  const calls = args.calls.map((given, index) => prepareBatchCall(session, context, requestId, given, index + 1));
  const confirmedCall = await describeConfirmedCall(session, session, "run_batch", [
    args.calls,
    args.stopOnError ?? false,
  ]);
  let agreement = await readAgreement(session, context, confirmedCall, args);
  if (agreement && !isAgreement(agreement)) return toAnsweredCall(agreement);
  let except = parsePositions(agreement?.except ?? "");
  // An answer that could not be read is asked for again, so none of it stays valid.
  if (agreement) await withdrawAgreement(session, confirmedCall, agreement, except ?? agreement.digests.keys());
  if (agreement === undefined || except === undefined) {
    const plan = await planBatch(session, selectCalls(calls, args.except));
    if (plan.previews.length > 0) {
      const unread =
        except === undefined ? "What to leave out could not be read; write numbers, for example 3, 7-9.\n" : "";
      const text = unread + createBatchQuestion(calls.length, plan);
      const digests = new Map(plan.previews.map(({ position, digest }) => [position, digest]));
      const scopes = [...new Set(plan.previews.flatMap((preview) => preview.scopes))];
      const longTexts = listLongTexts(plan);
      const asked = plan.previews.map(toAskedCall);
      const draft = { text, longTexts, fields: ["except"], calls: asked, scopes } as const;
      const answered = await requestAgreement(session, context, confirmedCall, digests, draft, args);
      if (!isAgreement(answered)) return toAnsweredCall(answered);
      agreement = answered;
      except = parsePositions(answered.except ?? "");
    }
  }
  const leftOut = new Set([...(args.except ?? []), ...(except ?? [])]);
  const { rows, notes } = await runCalls(session, context, calls, { agreement, leftOut, args });
  return { result: createBatchResult(session.settings.results, rows, notes), code: "ok" };
}

function toAnsweredCall(refused: Failure | Question): AnsweredCall {
  return "problem" in refused ? createRefusal(refused.problem) : { result: refused.question, code: "asked" };
}

function toAskedCall({ position, tool, text }: BatchPlan["previews"][number]) {
  return { position, tool, text };
}

function selectCalls(calls: readonly BatchCall[], except: readonly number[] = []): BatchCall[] {
  return calls.filter(({ position }) => !except.includes(position));
}

interface BatchRun {
  readonly agreement: Agreement | undefined;
  readonly leftOut: ReadonlySet<number>;
  readonly args: BatchArguments;
}

async function runCalls(session: ToolSession, context: ToolContext, calls: readonly BatchCall[], run: BatchRun) {
  const { progress, signal } = createCallControl(context);
  const rows: BatchRow[] = [];
  let bytesLeft = session.settings.resultBytes;
  let stopped: string | undefined;
  for (const call of calls) {
    const { position, tool } = call;
    if (signal.aborted) stopped ??= "The call was cancelled.";
    if (stopped !== undefined || run.leftOut.has(position)) {
      rows.push({ call: position, tool, outcome: { status: stopped === undefined ? "left_out" : "not_run" } });
      continue;
    }
    const resultBytes = Math.max(minRowBytes, Math.floor(bytesLeft / (calls.length - rows.length)));
    const limited = { ...session, settings: { ...session.settings, resultBytes } };
    const outcome = await runCall(limited, call, run.agreement);
    rows.push({ call: position, tool, outcome });
    bytesLeft -= outcome.status === "done" ? measureJsonBytes(outcome.toolData.data) : minRowBytes;
    if (outcome.status === "failed") stopped = findReasonToStop(outcome.problem.code, position, run.args);
    await progress(rows.length, `${rows.length} of ${calls.length} calls`);
  }
  const notes = stopped === undefined ? [] : [`${stopped} Calls with the status not_run were not made.`];
  return { rows, notes };
}

/** Bytes that the result of each call may have, however many there are. */
const minRowBytes = 400;

async function runCall(
  session: ToolSession,
  { position, prepared }: BatchCall,
  agreement: Agreement | undefined,
): Promise<BatchRow["outcome"]> {
  if (prepared instanceof Problem) return { status: "failed", problem: prepared };
  const confirmed = agreement && selectConfirmation(agreement, position);
  const performWrite = (write: ResolvedWrite) => performBatchWrite(session, write, confirmed);
  const perform = (call: UpstreamCall) => performToolCall<never>(session, { ...prepared, call }, performWrite);
  try {
    const { answer, notes } = await runWithFieldNames(session, prepared.call, perform);
    if (!answer.ok) return createFailedOutcome(session, prepared.call, answer.problem);
    return { status: "done", toolData: { ...answer, notes: [...prepared.notes, ...notes, ...answer.notes] } };
  } catch (error) {
    return createFailedOutcome(session, prepared.call, toFailure(error).problem);
  }
}

async function createFailedOutcome(
  session: ToolSession,
  call: UpstreamCall,
  refusal: Problem,
): Promise<BatchRow["outcome"]> {
  return { status: "failed", problem: await explainRefusal(session, call, refusal) };
}

/** Returns why no further call is made after a failed one. */
function findReasonToStop(code: string, position: number, { stopOnError }: BatchArguments): string | undefined {
  if (code === "rate_limited") return `The token's rate was used up at call ${position}.`;
  return stopOnError ? `Call ${position} failed.` : undefined;
}
