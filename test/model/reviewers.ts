import {
  audit,
  type Handler,
  isWorkload,
  listAssignments,
  type ModelReviewer,
  type ModelTenant,
  ok,
  Refusal,
  requireWritable,
} from "./tenant.ts";

/** The part of the reference model that invites reviewers and shows them (specification 4.11). */
export const reviewerHandlers = {
  get_reviewer(tenant, { reviewerId }) {
    const reviewer = tenant.reviewers.find((each) => each.reviewerId === reviewerId);
    if (!reviewer) throw new Refusal(404, "not_found");
    return ok(showReviewer(tenant, reviewer));
  },
  invite_reviewer(tenant, { suppressEmails, roundIds = [], ...given }, answered) {
    const { fixed, reviewers } = tenant;
    if (roundIds.some((roundId: string) => !fixed.roundIds.includes(roundId))) throw new Refusal(404, "not_found");
    const programIds = roundIds.length > 0 ? [fixed.programId] : [];
    if (roundIds.length > 0) requireWritable(tenant);
    const invitedAt = String(answered["invitedAt"]);
    let reviewer = reviewers.find(({ email }) => email.toLowerCase() === given.email.toLowerCase());
    if (reviewer) {
      inviteAgain(tenant, reviewer, { ...given, roundIds, programIds, invitedAt });
    } else {
      const { firstName = null, lastName = null, expertise = [], role = "reviewer", email } = given;
      const reviewerId = String(answered["reviewerId"]);
      const names = { firstName, lastName, email, role, expertise };
      reviewer = { reviewerId, ...names, programIds, roundIds, status: "invited", invitedAt, version: 0 };
      reviewers.push(reviewer);
      audit(tenant, reviewerId, "reviewer.invited");
    }
    tenant.invitations.push(reviewer.reviewerId);
    audit(tenant, "invitation", "invitation.created");
    const isSuppressed = suppressEmails === true || isSuppressedAddress(tenant, reviewer.email);
    tenant.emailSends.push({
      recipientEmail: reviewer.email,
      recipientKind: "reviewer",
      template: "reviewer_invitation",
      subject: roundIds.length > 0 ? `Invitation to review: ${fixed.programName}` : "Invitation to review",
      programId: programIds[0] ?? null,
      bulkId: null,
      status: isSuppressed ? "suppressed" : "queued",
    });
    audit(tenant, "email_send", "email_send.created");
    return ok(showReviewer(tenant, reviewer));
  },
} as const satisfies Record<string, Handler>;

type Invited = Pick<ModelReviewer, "programIds" | "roundIds" | "invitedAt"> &
  Partial<Pick<ModelReviewer, "firstName" | "lastName" | "role" | "expertise">>;

/** Adds an invitation to a reviewer. Who reviews already stays active; anyone else is to answer again. */
function inviteAgain(tenant: ModelTenant, reviewer: ModelReviewer, given: Invited): void {
  const before = JSON.stringify(reviewer);
  reviewer.firstName = given.firstName ?? reviewer.firstName;
  reviewer.lastName = given.lastName ?? reviewer.lastName;
  reviewer.role = given.role ?? reviewer.role;
  reviewer.expertise = uniteTexts(reviewer.expertise, given.expertise ?? []);
  reviewer.programIds = uniteTexts(reviewer.programIds, given.programIds);
  reviewer.roundIds = uniteTexts(reviewer.roundIds, given.roundIds);
  if (reviewer.status !== "active") Object.assign(reviewer, { status: "invited", invitedAt: given.invitedAt });
  if (JSON.stringify(reviewer) === before) return;
  reviewer.version += 1;
  audit(tenant, reviewer.reviewerId, "reviewer.invited");
}

/** Adds what a list lacks. Texts that differ in case are the same. */
function uniteTexts(texts: readonly string[], added: readonly string[]): string[] {
  const known = new Set(texts.map((text) => text.toLowerCase()));
  return [...texts, ...added.filter((text) => !known.has(text.toLowerCase()))];
}

/** Returns whether a recipient gets no e-mail. Addresses that differ in case are the same. */
export function isSuppressedAddress({ fixed }: ModelTenant, email: string): boolean {
  return fixed.suppressedEmails.includes(email.toLowerCase());
}

export function showReviewer(tenant: ModelTenant, reviewer: ModelReviewer) {
  const own = listAssignments(tenant).filter((each) => isWorkload(each) && each.reviewerId === reviewer.reviewerId);
  const completed = own.filter(({ status }) => status === "completed");
  return { ...reviewer, assignmentCounts: { assigned: own.length, completed: completed.length } };
}
