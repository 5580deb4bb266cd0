import type { OperationName } from "../../../src/contract/index.ts";
import type { ModelExchange, ModelRequest, ModelTenant } from "../tenant.ts";
import { type DescribedRecord, describeEmailSend, describeRecord, listDifferences } from "./audited-records.ts";

/** The part of the reference model that keeps the audit entries of requests (specification 1; records: AuditEntry). */

interface Access {
  readonly action: string;
  /** The ids in the operation's path. The last one identifies the record. */
  readonly path: readonly string[];
}

/** Operations whose requests are listed by their action even if they change nothing. Of others, only changes are. */
const accesses: Partial<Record<OperationName, Access>> = {
  create_submission: { action: "submission.created", path: [] },
  submit_submission: { action: "submission.submitted", path: ["submissionId"] },
  get_submission: { action: "submission.read", path: ["submissionId"] },
  merge_person: { action: "person.merged", path: ["personId"] },
  get_person: { action: "person.read", path: ["personId"] },
  list_applicants: { action: "applicant.listed", path: [] },
  update_program: { action: "program.updated", path: ["programId"] },
  get_program: { action: "program.read", path: ["programId"] },
  release_feedback: { action: "feedback.released", path: ["feedbackId"] },
  list_audit_entries: { action: "audit.listed", path: [] },
  get_audit_entry: { action: "audit.read", path: ["auditId"] },
};

/** Actions of which the model knows all entries of requests that changed nothing. */
export const accessActions: readonly string[] = Object.values(accesses).map(({ action }) => action);

/** Actions by which the model can list all entries. */
export const listedActions: readonly string[] = [
  ...accessActions,
  "applicant.created",
  "applicant.updated",
  "assignment.updated",
  "email_send.created",
  "email_send.sent",
  "export.completed",
];

/** Keeps the entries of what a request has changed, or the entry of a request that has changed nothing. */
export function recordRequest(
  tenant: ModelTenant,
  before: ModelTenant,
  request: ModelRequest,
  exchange: ModelExchange,
): void {
  const changes = tenant.changes.slice(before.changes.length);
  if (changes.length === 0) recordAccess(tenant, request, exchange);
  const emails = tenant.emailSends.slice(before.emailSends.length);
  for (const [index, change] of changes.entries()) {
    const [id = "", action = ""] = change.split(" ");
    const email = action.startsWith("email_send.") ? emails.shift() : undefined;
    const after = email ? describeEmailSend(email) : describe(tenant, id, action);
    const earlier = email ? undefined : describe(before, id, action);
    tenant.auditEntries.push({
      ...createEntry(exchange, `${index}`),
      isCertain: true,
      recordId: id,
      entityId: isAnswered(action) ? id : undefined,
      shown: {
        ...describeCaller(tenant, request, exchange),
        action,
        entityType: getEntityType(action),
        programId: after?.programId ?? null,
        submissionId: after?.submissionId ?? null,
        status: null,
        replayed: undefined,
        reason: typeof request.input.reason === "string" ? request.input.reason : null,
      },
      knownPaths: [...Object.keys(after?.open ?? {}), ...Object.keys(after?.personal ?? {})],
      changes: listDifferences(earlier, after),
    });
  }
}

/** Keeps the entry of a request that has changed nothing: a read, a refusal or a repeated request. */
export function recordAccess(tenant: ModelTenant, request: ModelRequest, exchange: ModelExchange): void {
  const access = accesses[request.name];
  if (!access) return;
  const { action, path } = access;
  const { status, isReplay } = exchange;
  // Of a refused request, only the path is known to be valid.
  const named = Object.entries(request.input).filter(([name]) => status < 400 || path.includes(name));
  const { programId = null, submissionId = null, ...ids } = Object.fromEntries(named);
  const idName = path.at(-1);
  tenant.auditEntries.push({
    ...createEntry(exchange, "access"),
    isCertain: false,
    recordId: "",
    entityId: idName === undefined ? null : ({ programId, submissionId, ...ids }[idName] as string),
    shown: {
      ...describeCaller(tenant, request, exchange),
      action,
      entityType: getEntityType(action),
      programId,
      submissionId,
      status,
      replayed: isReplay || undefined,
      reason: null,
    },
    knownPaths: [],
    changes: [],
  });
}

function createEntry({ requestId, sentAt, answeredAt }: ModelExchange, part: string) {
  return { key: `${requestId} ${part}`, sentAt, answeredAt };
}

function describeCaller({ fixed }: ModelTenant, { caller }: ModelRequest, { requestId }: ModelExchange) {
  const { tokenId, name } = fixed.tokens[caller.token] ?? { tokenId: "", name: "" };
  const { businessId } = fixed;
  return {
    businessId,
    actorType: "token",
    actorId: tokenId,
    actorName: name,
    tokenId,
    approvedBy: undefined,
    requestId,
  };
}

/** Returns whether the model knows the id of a changed record: no answer gives those of invitations and messages. */
function isAnswered(action: string): boolean {
  return !["invitation", "email_send"].includes(getEntityType(action));
}

const getEntityType = (action: string) => action.slice(0, action.indexOf("."));

function describe(tenant: ModelTenant, id: string, action: string): DescribedRecord | undefined {
  return describeRecord[getEntityType(action) as keyof typeof describeRecord](id, tenant);
}
