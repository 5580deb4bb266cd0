import { isApprovalId } from "../../approvals/approvals.ts";
import { type Scope, sensitiveScope } from "../../contract/access/scopes.ts";
import { problem } from "../../contract/errors.ts";
import { type CallName, operations } from "../../contract/index.ts";
import type { Answer, DryRunResult, Failure, RequestCaller, UpstreamCall } from "../../upstream/port.ts";
import { getIdentity } from "../../upstream/request-caller.ts";
import type { ConfirmationPolicy, ToolContext, ToolSession } from "../session.ts";
import type { ResolvedWrite } from "../writes/resolved-write.ts";
import { awaitApproval, findApprovals, readDecision, requestApproval } from "./approval.ts";
import {
  type Agreement,
  type ConfirmedCall,
  createConfirmationToken,
  createSigner,
  type Digests,
  selectConfirmation,
  verifyConfirmationToken,
} from "./confirmation-token.ts";
import { createPreview, isPseudonymizedExport, type Preview } from "./preview.ts";
import {
  canShowForm,
  createPendingQuestion,
  createQuestion,
  type Question,
  type QuestionDraft,
  type QuestionText,
  readReply,
} from "./question.ts";

/** Returns whether a tool may require confirmation. */
export function canAsk({ mode, approved }: ConfirmationPolicy, name: CallName): boolean {
  if (operations[name].confirm === undefined) return false;
  return mode !== "off" && !approved.has(name);
}

/** The repetition of a call after a question. */
export interface GivenConfirmation {
  /** The token from the first call, if the client cannot ask. */
  readonly confirmation?: string | undefined;
  /** Waits for a person's approval. */
  readonly wait?: boolean | undefined;
}

/**
 * Performs a call. If its contract requires confirmation, returns a question with a preview first. The question is
 * bound to caller, operation, arguments and the previewed records, and can be used once.
 */
export async function withConfirmation(
  session: ToolSession,
  context: ToolContext,
  write: ResolvedWrite,
  given: GivenConfirmation,
): Promise<Answer | Question> {
  const { upstream } = session;
  const { call } = write;
  const wording = await findWording(session, call);
  if (wording === undefined) return upstream.call(call);
  if (typeof wording !== "string") return wording;
  const confirmedCall = await describeConfirmedCall(session, call, call.operation, write.given);
  const agreement =
    (await readAgreement(session, context, confirmedCall, given)) ??
    (await askForConfirmation(session, context, write, confirmedCall, wording, given));
  if (!isAgreement(agreement)) return agreement;
  const answer = await upstream.call({ ...call, confirmed: selectConfirmation(agreement, 0) });
  const isStale = !answer.ok && answer.problem.code === "confirmation_stale";
  if (!isStale) return answer;
  const again = `The records have changed since you were asked. ${wording}`;
  const outcome = await askForConfirmation(session, context, write, confirmedCall, again, {});
  return isAgreement(outcome) ? answer : outcome;
}

/** Describes a call of a caller, so that a confirmation is valid for nothing else. */
export async function describeConfirmedCall(
  { upstream, confirmation }: ToolSession,
  from: RequestCaller,
  tool: string,
  args: unknown,
): Promise<ConfirmedCall> {
  const { caller, realm, holder } = await getIdentity(upstream, from);
  const tenant = await confirmation.approvals.findTenant(realm);
  return { tool, args, caller, realm, tenant, tokenId: holder?.tokenId };
}

export function isAgreement(outcome: object): outcome is Agreement {
  return "digests" in outcome;
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

/**
 * Returns the agreement that the caller presents, a refusal, the question if it still waits for a person, or
 * `undefined` if a human must be asked first.
 */
export async function readAgreement(
  session: ToolSession,
  context: ToolContext,
  call: ConfirmedCall,
  { confirmation: given, wait = false }: GivenConfirmation,
): Promise<Agreement | Failure | Question | undefined> {
  const { confirmation, telemetry } = session;
  const reply = readReply(context);
  if (!reply && given === undefined) return undefined;
  const approvals = reply ? undefined : await findApprovals(session, call);
  if (!reply && !approvals && confirmation.mode === "human")
    return { ok: false, problem: problem("confirmation_unavailable") };
  const token = reply ? context.mcpReq.requestState<string>() : given;
  const agreement = verifyConfirmationToken(confirmation, createSigner(confirmation, call), token);
  const isApproval = "nonce" in agreement && isApprovalId(agreement.nonce);
  if (reply?.action === "decline" || (reply && !isApproval && !reply.agrees)) {
    // On a page, another person may still decide.
    if (isAgreement(agreement) && !isApproval)
      await withdrawAgreement(session, call, agreement, agreement.digests.keys());
    return refuseDeclined(session, reply.reason);
  }
  if ("problem" in agreement) return agreement;
  if (isApproval) {
    const waits = wait || reply !== undefined;
    return readApproval(session, context, call, { agreement, token: String(token), waits });
  }
  // Without a reply, a token only proves that the model called twice.
  if (approvals) return undefined;
  telemetry.note("confirmation", "accepted");
  return reply ? { ...agreement, showsHidden: reply.showsHidden, except: reply.except } : agreement;
}

/**
 * Makes an agreement unusable for the calls at some positions. A question is answered once: a client of 2026-07-28
 * holds its state, and could send a yes after the no.
 */
export async function withdrawAgreement(
  { confirmation }: ToolSession,
  { realm }: ConfirmedCall,
  agreement: Agreement,
  positions: Iterable<number>,
): Promise<void> {
  const withdrawn = [...positions].flatMap((position) => selectConfirmation(agreement, position) ?? []);
  if (withdrawn.length > 0) await confirmation.consume(realm, withdrawn);
}

function refuseDeclined({ telemetry }: ToolSession, reason: string): Failure {
  telemetry.note("confirmation", "declined");
  return { ok: false, problem: problem("confirmation_declined", reason ? { reason } : undefined) };
}

interface PresentedApproval {
  readonly agreement: Agreement;
  readonly token: string;
  readonly waits: boolean;
}

/** Returns the agreement of the person who approved a call, a refusal, or the question while nobody has decided. */
async function readApproval(
  session: ToolSession,
  context: ToolContext,
  call: ConfirmedCall,
  { agreement, token, waits }: PresentedApproval,
): Promise<Agreement | Failure | Question> {
  const approval = await awaitApproval(session, context, call, agreement.nonce, waits);
  const decided = readDecision(session, call, approval, agreement);
  if (decided || !approval) return decided ?? { ok: false, problem: problem("confirmation_invalid") };
  const { approvalId, question: text, choices: fields, expiresAt } = approval;
  const page = { approvalId, url: await session.confirmation.getApprovalUrl(approvalId) };
  return createPendingQuestion(session, context, { tool: call.tool, text, fields, token, expiresAt, approval: page });
}

async function askForConfirmation(
  session: ToolSession,
  context: ToolContext,
  write: ResolvedWrite,
  confirmedCall: ConfirmedCall,
  wording: string,
  given: GivenConfirmation,
): Promise<Answer | Question | Agreement> {
  const preview = await createWritePreview(session, write, wording);
  if (preview === undefined) return session.upstream.call(write.call);
  if (!preview.ok) return preview;
  const { text, dryRunResult } = preview;
  const digests = new Map([[0, dryRunResult.digest]]);
  const longTexts = preview.longTexts.map((longText) => ({ position: 0, ...longText }));
  const draft = { text, longTexts, fields: listFields(dryRunResult), calls: [], scopes: listApproverScopes(write) };
  return requestAgreement(session, context, confirmedCall, digests, draft, given);
}

/** Lists the scopes that a person needs to see a write's preview and to agree. */
export function listApproverScopes({ call, keptFields }: ResolvedWrite): Scope[] {
  const { scope, conditionalScopes } = operations[call.operation];
  const further: readonly Scope[] = conditionalScopes?.(call.input) ?? [];
  const sensitive: readonly Scope[] = keptFields ? [sensitiveScope] : [];
  return [scope, ...further, ...sensitive];
}

export interface WritePreview extends Preview {
  readonly ok: true;
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
  return { ok: true, ...(await createPreview(session, write, wording, dryRunResult)), dryRunResult };
}

/**
 * Asks a human to agree to the dry runs with these digests: in a form of the client, or else on a page if anybody has an
 * account. Returns the question, or the agreement if the call waited for it.
 */
export async function requestAgreement(
  session: ToolSession,
  context: ToolContext,
  call: ConfirmedCall,
  digests: Digests,
  draft: QuestionText,
  { wait = false }: GivenConfirmation,
): Promise<Question | Failure | Agreement> {
  const { confirmation, telemetry } = session;
  const showsForm = canShowForm(session, context);
  const approvals = showsForm ? undefined : await findApprovals(session, call);
  if (confirmation.mode === "human" && !showsForm && !approvals)
    return { ok: false, problem: problem("confirmation_unavailable") };
  telemetry.note("confirmation", "asked");
  const { tool } = call;
  const signer = createSigner(confirmation, call);
  if (!approvals) {
    const signed = createConfirmationToken(confirmation, signer, digests);
    return createQuestion(session, context, { ...draft, ...signed, tool });
  }
  const approval = await requestApproval(session, context, approvals, call, draft);
  const signed = createConfirmationToken(confirmation, signer, digests, approval);
  if (wait) {
    const agreement = { digests, nonce: approval.approvalId, expiresAt: approval.expiresAt };
    return readApproval(session, context, call, { agreement, token: signed.token, waits: true });
  }
  const { approvalId } = approval;
  const page = { approvalId, url: await confirmation.getApprovalUrl(approvalId) };
  return createQuestion(session, context, { ...draft, ...signed, tool, approval: page });
}

function listFields(dryRunResult: DryRunResult): QuestionDraft["fields"] {
  return isPseudonymizedExport(dryRunResult) ? ["showHidden"] : [];
}
