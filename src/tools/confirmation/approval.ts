import { type ApprovalRequest, type Approvals, isExpired } from "../../approvals/approvals.ts";
import type { Approval } from "../../contract/access/approvals.ts";
import { problem } from "../../contract/errors.ts";
import type { Failure } from "../../upstream/port.ts";
import { sanitizeText } from "../../upstream/privacy/sanitize-text.ts";
import { createCallControl } from "../call-control.ts";
import type { ToolContext, ToolSession } from "../session.ts";
import { type Agreement, type ConfirmedCall, createSigner } from "./confirmation-token.ts";
import { getClientName, type QuestionText } from "./question.ts";

/** Longest wait for a decision. Hosts give up after a minute without progress. */
const waitLimitMs = { withProgress: 10 * 60_000, without: 45_000 };

/** Returns the approvals, if anybody has an account that may approve the caller's calls. */
export async function findApprovals(
  { confirmation: { approvals } }: ToolSession,
  { tenant }: ConfirmedCall,
): Promise<Approvals | undefined> {
  return (await approvals.hasApprovers(tenant)) ? approvals : undefined;
}

/** Asks for a signed-in person's agreement to a call. */
export function requestApproval(
  session: ToolSession,
  context: ToolContext,
  approvals: Approvals,
  call: ConfirmedCall,
  { text, calls, longTexts, fields, scopes }: QuestionText,
): Promise<Approval> {
  const { tool, caller, tenant, tokenId } = call;
  const request: ApprovalRequest = {
    tool,
    caller,
    tokenId: tokenId ?? null,
    clientName: getClientName(session, context) ?? null,
    callDigest: createSigner(session.confirmation, call)("approval"),
    question: text,
    calls: [...calls],
    longTexts: [...longTexts],
    scopes: [...scopes],
    choices: [...fields],
  };
  return approvals.request(tenant, request);
}

/** Waits for the decision on an approval, if the caller wants that, and reports progress. Returns its last state. */
export async function awaitApproval(
  { confirmation }: ToolSession,
  context: ToolContext,
  { tenant }: ConfirmedCall,
  approvalId: string,
  waits: boolean,
): Promise<Approval | undefined> {
  const { approvals } = confirmation;
  if (!waits) return approvals.find(tenant, approvalId);
  const { progress, signal } = createCallControl(context);
  const url = await confirmation.getApprovalUrl(approvalId);
  const report = (waitedMs: number) =>
    progress(Math.round(waitedMs / 1000), `Waiting for a person to decide at ${url}`);
  await report(0);
  const hasProgress = context.mcpReq._meta?.progressToken !== undefined;
  const limitMs = hasProgress ? waitLimitMs.withProgress : waitLimitMs.without;
  return approvals.waitForDecision(tenant, approvalId, { limitMs, signal, onWaiting: report });
}

/** Returns what a decision means for a call: agreement, a refusal, or `undefined` while nobody has decided. */
export function readDecision(
  { telemetry, confirmation }: ToolSession,
  call: ConfirmedCall,
  approval: Approval | undefined,
  agreement: Agreement,
): Agreement | Failure | undefined {
  if (!approval || approval.caller !== call.caller || isExpired(approval, confirmation.now()))
    return { ok: false, problem: problem("confirmation_invalid") };
  if (approval.status === "pending") return undefined;
  if (approval.status === "declined") {
    telemetry.note("confirmation", "declined");
    const reason = sanitizeText(approval.reason ?? "");
    return { ok: false, problem: problem("confirmation_declined", reason === "" ? undefined : { reason }) };
  }
  telemetry.note("confirmation", "accepted");
  const { showsHidden, except, decidedBy } = approval;
  return { ...agreement, showsHidden, except: except.join(","), approvedBy: decidedBy ?? undefined };
}
