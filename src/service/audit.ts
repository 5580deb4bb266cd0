import type { AuditEntry } from "../contract/audit.ts";
import { problem } from "../contract/errors.ts";
import { formatReviewerName } from "../domain/reviewers.ts";
import type { Handler, ReadContext } from "../store/handler-context.ts";
import type { Reader } from "../store/port.ts";

export const list_audit_entries: Handler<"list_audit_entries"> = async (
  context,
  { limit, lastEvaluatedKey, ...filter },
) => {
  const page = await context.store.pageAudit(filter, { limit, lastEvaluatedKey }, context.narrowing);
  return { ...page, rows: await nameActors(context, page.rows) };
};

export const get_audit_entry: Handler<"get_audit_entry"> = async (context, { auditId }) => {
  const entry = await context.store.getAudit(auditId);
  if (!entry) throw problem("not_found");
  const [named] = await nameActors(context, [entry]);
  return named ?? entry;
};

/** Adds the names of tokens and accounts, and those of reviewers and applicants if the caller may list them. */
async function nameActors({ store, caller }: ReadContext, entries: readonly AuditEntry[]): Promise<AuditEntry[]> {
  const listIds = (type: AuditEntry["actorType"]) => [
    ...new Set(entries.flatMap(({ actorType, actorId }) => (actorType === type ? actorId : []))),
  ];
  const names: Partial<Record<AuditEntry["actorType"], ReadonlyMap<string, string | null>>> = {
    token: await store.findTokenNames(listIds("token")),
    user: await store.findUserNames([...listIds("user"), ...entries.flatMap(({ approvedBy }) => approvedBy ?? [])]),
    ...(caller.scopes.has("reviewers:read") ? { reviewer: await findReviewerNames(store, listIds("reviewer")) } : {}),
    ...(caller.scopes.has("applicants:read")
      ? { applicant: await findApplicantNames(store, listIds("applicant")) }
      : {}),
  };
  return entries.map((entry) => {
    const actorName = names[entry.actorType]?.get(entry.actorId);
    const approverName = entry.approvedBy === undefined ? undefined : names.user?.get(entry.approvedBy);
    return { ...entry, ...(actorName ? { actorName } : {}), ...(approverName ? { approverName } : {}) };
  });
}

async function findReviewerNames(store: Reader, reviewerId: readonly string[]) {
  if (reviewerId.length === 0) return new Map<string, null>();
  const rows = await store.find("reviewers", { where: { reviewerId } }, { limit: reviewerId.length });
  return new Map(rows.map((row) => [row.reviewerId, formatReviewerName(row)]));
}

async function findApplicantNames(store: Reader, applicantId: readonly string[]) {
  if (applicantId.length === 0) return new Map<string, null>();
  const rows = await store.find("applicants", { where: { applicantId } }, { limit: applicantId.length });
  return new Map(rows.map((row) => [row.applicantId, row.name]));
}
