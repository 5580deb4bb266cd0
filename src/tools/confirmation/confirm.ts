import { problem } from "../../contract/errors.ts";
import { type CallName, operations } from "../../contract/index.ts";
import type { Answer, DryRunResult, Failure, UpstreamCall } from "../../upstream/port.ts";
import { getIdentity } from "../../upstream/request-caller.ts";
import type { ConfirmationPolicy, ToolContext, ToolSession } from "../session.ts";
import type { ResolvedWrite } from "../writes/resolved-write.ts";
import {
  type Agreement,
  type ConfirmedCall,
  createConfirmationToken,
  createSigner,
  type Digests,
  selectConfirmation,
  verifyConfirmationToken,
} from "./confirmation-token.ts";
import { createPreview, isPseudonymizedExport } from "./preview.ts";
import { canElicit, createQuestion, type Question, type QuestionDraft, type Reply, readReply } from "./question.ts";

/** Returns whether a tool may require confirmation. */
export function canAsk({ mode, approved }: ConfirmationPolicy, name: CallName): boolean {
  if (operations[name].confirm === undefined) return false;
  return mode !== "off" && !approved.has(name);
}

/**
 * Performs a call. If its contract requires confirmation, returns a question with a preview first. The question is
 * bound to caller, operation, arguments and the previewed records, is valid for five minutes and can be used once.
 * @param token - the token from the first call, if the client cannot ask
 */
export async function withConfirmation(
  session: ToolSession,
  context: ToolContext,
  write: ResolvedWrite,
  token: string | undefined,
): Promise<Answer | Question> {
  const { upstream } = session;
  const { call, given } = write;
  const wording = await findWording(session, call);
  if (wording === undefined) return upstream.call(call);
  if (typeof wording !== "string") return wording;
  const { caller } = await getIdentity(upstream, call);
  const confirmedCall = { tool: call.operation, args: given, caller };
  const agreement = readAgreement(session, context, confirmedCall, token);
  if (agreement === undefined) return askForConfirmation(session, context, write, confirmedCall, wording);
  if ("problem" in agreement) return agreement;
  const answer = await upstream.call({ ...call, confirmed: selectConfirmation(agreement, 0) });
  const isStale = !answer.ok && answer.problem.code === "confirmation_stale";
  if (!isStale) return answer;
  const again = `The records have changed since you were asked. ${wording}`;
  return askForConfirmation(session, context, write, confirmedCall, again);
}

/**
 * Returns what a call would be confirmed as, if it must be: `undefined` if not, a failure if its arguments are invalid,
 * because the question shows them.
 */
export async function findWording(session: ToolSession, call: UpstreamCall): Promise<string | Failure | undefined> {
  const { confirm } = operations[call.operation];
  if (!confirm || !canAsk(session.confirmation, call.operation)) return undefined;
  return (await session.upstream.check(call)) ?? confirm(call.input);
}

/** Returns the agreement that the caller presents, a problem, or `undefined` if no question was asked yet. */
export function readAgreement(
  session: ToolSession,
  context: ToolContext,
  call: ConfirmedCall,
  token: string | undefined,
): (Agreement & { readonly reply?: Reply }) | Failure | undefined {
  const { confirmation, telemetry } = session;
  const signer = createSigner(confirmation, call);
  const reply = readReply(context);
  if (reply && !reply.agrees) {
    telemetry.note("confirmation", "declined");
    const { reason } = reply;
    return { ok: false, problem: problem("confirmation_declined", reason ? { reason } : undefined) };
  }
  if (!reply && token === undefined) return undefined;
  // A token only proves that the model called twice. It does not suffice if a human must confirm.
  if (!reply && confirmation.mode === "human") return { ok: false, problem: problem("confirmation_unavailable") };
  const agreement = verifyConfirmationToken(
    confirmation,
    signer,
    reply ? context.mcpReq.requestState<string>() : token,
  );
  if ("problem" in agreement) return agreement;
  telemetry.note("confirmation", "accepted");
  return reply ? { ...agreement, showsHidden: reply.showsHidden, reply } : agreement;
}

async function askForConfirmation(
  session: ToolSession,
  context: ToolContext,
  write: ResolvedWrite,
  confirmedCall: ConfirmedCall,
  wording: string,
): Promise<Answer | Question> {
  const preview = await createWritePreview(session, write, wording);
  if (preview === undefined) return session.upstream.call(write.call);
  if (!preview.ok) return preview;
  const { text, dryRunResult } = preview;
  const digests = new Map([[0, dryRunResult.digest]]);
  return createSignedQuestion(session, context, confirmedCall, digests, { text, fields: listFields(dryRunResult) });
}

export interface WritePreview {
  readonly ok: true;
  /** What a human is asked. */
  readonly text: string;
  readonly dryRunResult: DryRunResult;
}

/** Previews a write by a dry run; `undefined` if it would change nothing, which needs no agreement. */
export async function createWritePreview(
  session: ToolSession,
  write: ResolvedWrite,
  wording: string,
): Promise<WritePreview | Failure | undefined> {
  const dryRunResult = await session.upstream.dryRun(write.call);
  if (!dryRunResult.ok) return dryRunResult;
  if (dryRunResult.changes.length === 0) return undefined;
  return { ok: true, text: await createPreview(session, write, wording, dryRunResult), dryRunResult };
}

/** Asks for the agreement to the dry runs with these digests. */
export function createSignedQuestion(
  session: ToolSession,
  context: ToolContext,
  call: ConfirmedCall,
  digests: Digests,
  draft: Pick<QuestionDraft, "text" | "fields">,
): Question | Failure {
  const { confirmation, telemetry } = session;
  if (confirmation.mode === "human" && !canElicit(session, context))
    return { ok: false, problem: problem("confirmation_unavailable") };
  telemetry.note("confirmation", "asked");
  const signed = createConfirmationToken(confirmation, createSigner(confirmation, call), digests);
  return createQuestion(session, context, { ...draft, ...signed });
}

function listFields(dryRunResult: DryRunResult): QuestionDraft["fields"] {
  return isPseudonymizedExport(dryRunResult) ? ["showHidden"] : [];
}
