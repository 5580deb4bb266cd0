import { approvalsPath, approverRoles, type Decision, mayDecide } from "../../approvals/approvals.ts";
import type { Approval } from "../../contract/access/approvals.ts";
import { getUserScopes, type User } from "../../contract/access/roles.ts";
import { sensitiveScope } from "../../contract/access/scopes.ts";
import { Problem } from "../../contract/errors.ts";
import {
  formatCallId,
  renderApprovalListPage,
  renderApprovalPage,
  type WaitingApprovals,
} from "../../pages/approvals/approval.ts";
import type { FormMistake, FormMistakes } from "../../pages/components/form-fields.ts";
import { type PageContext, type PeopleApp, type PeopleServices, requireSignIn } from "./browser-request.ts";
import { answerError } from "./page-errors.ts";

const maxListed = 100;
const maxReasonChars = 500;

/** Adds the pages on which people approve what agents ask for. */
export function addApprovalRoutes(app: PeopleApp, people: PeopleServices): void {
  const { approvals, findTokenName } = people;
  async function showApproval(
    context: PageContext,
    user: User,
    approval: Approval,
    { mistakes = [], reason = "" }: { mistakes?: FormMistakes; reason?: string } = {},
  ) {
    const { tokenId } = approval;
    const tokenName = tokenId === null ? undefined : await findTokenName(user.businessId, tokenId);
    const page = renderApprovalPage({
      user,
      approval,
      tokenName,
      status: approvals.getStatus(approval),
      hindrance: findHindrance(user, approval),
      givenReason: reason,
      mistakes,
    });
    return context.html(page, mistakes.length === 0 ? 200 : 422);
  }

  const findApproval = (context: PageContext, { businessId }: User) =>
    approvals.find(businessId, context.req.param("approvalId") ?? "");

  app.get(
    approvalsPath,
    requireSignIn(people, async (context, user) =>
      context.html(renderApprovalListPage({ user, ...(await listDecidable(people, user)) })),
    ),
  );

  app.get(
    `${approvalsPath}/:approvalId`,
    requireSignIn(people, async (context, user) => {
      const approval = await findApproval(context, user);
      return approval ? showApproval(context, user, approval) : context.notFound();
    }),
  );

  app.post(
    `${approvalsPath}/:approvalId`,
    requireSignIn(people, async (context, user) => {
      const approval = await findApproval(context, user);
      if (!approval) return context.notFound();
      const hindrance = findHindrance(user, approval);
      if (hindrance !== undefined) return answerError(context, 403, { title: "Not decided", text: hindrance });
      const { mistake, ...decision } = await readDecision(context, approval, user);
      const { except, reason } = decision;
      if (mistake) return showApproval(context, user, { ...approval, except }, { mistakes: [mistake], reason });
      try {
        await approvals.decide(user.businessId, approval.approvalId, decision, user);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        const mistakes = [{ message: "This was decided by somebody else, or has expired." }];
        return showApproval(context, user, (await findApproval(context, user)) ?? approval, { mistakes });
      }
      return context.redirect(`${approvalsPath}/${approval.approvalId}`, 303);
    }),
  );
}

/** Lists the approvals that wait for a decision which the person may make. */
export async function listDecidable({ approvals }: PeopleServices, user: User): Promise<WaitingApprovals> {
  const waiting = await approvals.listPending(user.businessId, maxListed + 1);
  const visible = waiting.filter((approval) => findHindrance(user, approval) === undefined);
  return { pending: visible.slice(0, maxListed), hasMore: waiting.length > maxListed };
}

/** Returns why a person may not decide on an approval. */
function findHindrance(user: User, approval: Approval): string | undefined {
  if (mayDecide(user, approval)) return undefined;
  if (!approverRoles.includes(user.role))
    return "Your role only reads. Ask an owner or a member of the staff to decide.";
  const scopes = getUserScopes(user);
  const missing = approval.scopes.filter((scope) => !scopes.has(scope));
  return missing.includes(sensitiveScope)
    ? "This shows sensitive personal data, which you may not see. Ask a person who may."
    : "You lack the rights that this call needs.";
}

interface GivenDecision extends Decision {
  readonly reason: string;
  readonly except: number[];
}

/** Reads the form, and what is wrong with it. */
async function readDecision(
  context: PageContext,
  { calls }: Approval,
  user: User,
): Promise<GivenDecision & { readonly mistake: FormMistake | undefined }> {
  const form = await context.req.parseBody({ all: true });
  const kept = new Set([form["call"] ?? []].flat().map(String));
  const decision = {
    approves: form["decision"] === "approve",
    reason: typeof form["reason"] === "string" ? form["reason"].trim().slice(0, maxReasonChars) : "",
    except: calls.flatMap(({ position }) => (kept.has(String(position)) ? [] : [position])),
    showsHidden: form["showHidden"] === "yes" && user.seesSensitive,
  };
  const mistake =
    decision.approves || form["decision"] === "decline"
      ? findMistake(calls, decision)
      : { message: "Choose Approve or Decline." };
  return { ...decision, mistake };
}

function findMistake(calls: Approval["calls"], { approves, reason, except }: GivenDecision): FormMistake | undefined {
  if (approves && calls.length > 0 && except.length === calls.length)
    return { input: formatCallId(calls), message: "No call is selected. Select at least one, or decline." };
  // Someone who wrote why to decline pressed the wrong button, or expects that the agent gets the reason.
  if (approves && reason !== "")
    return { input: "reason", message: "A reason is sent with Decline alone. Remove it to approve." };
  return undefined;
}
