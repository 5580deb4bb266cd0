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

const maxListed = 100;
const maxReasonChars = 500;

/** Adds the pages on which people approve what agents ask for. */
export function addApprovalRoutes(app: PeopleApp, people: PeopleServices): void {
  const { approvals, findTokenName } = people;
  async function showApproval(context: PageContext, user: User, approval: Approval, mistakes: FormMistakes = []) {
    const { tokenId } = approval;
    const tokenName = tokenId === null ? undefined : await findTokenName(user.businessId, tokenId);
    const page = renderApprovalPage({
      user,
      approval,
      tokenName,
      status: approvals.getStatus(approval),
      hindrance: findHindrance(user, approval),
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
      if (findHindrance(user, approval) !== undefined) return context.text("Your role may not decide this.", 403);
      const decision = await readDecision(context, approval, user);
      if ("mistake" in decision) return showApproval(context, user, approval, [decision.mistake]);
      try {
        await approvals.decide(user.businessId, approval.approvalId, decision, user);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return showApproval(context, user, approval, [
          { message: "This was decided by somebody else, or has expired." },
        ]);
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

/** Reads the form, or returns what is wrong with it. */
async function readDecision(
  context: PageContext,
  { calls }: Approval,
  user: User,
): Promise<Decision | { readonly mistake: FormMistake }> {
  const form = await context.req.parseBody({ all: true });
  const kept = new Set([form["call"] ?? []].flat().map(String));
  const approves = form["decision"] === "approve";
  if (!approves && form["decision"] !== "decline") return { mistake: { message: "Choose Approve or Decline." } };
  const except = calls.flatMap(({ position }) => (kept.has(String(position)) ? [] : [position]));
  if (approves && calls.length > 0 && except.length === calls.length)
    return {
      mistake: { input: formatCallId(calls), message: "No call is selected. Select at least one, or decline." },
    };
  const reason = typeof form["reason"] === "string" ? form["reason"].trim().slice(0, maxReasonChars) : "";
  return {
    approves,
    reason: approves ? "" : reason,
    except,
    showsHidden: form["showHidden"] === "yes" && user.seesSensitive,
  };
}
