import * as z from "zod";
import { personal } from "./definition/field-annotations.ts";
import { Id, Timestamp } from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";
import { pageQuery } from "./definition/page.ts";

/** Audit entries are append-only. `changes` lists the paths of personal fields without their values. */
export const AuditEntry = z.object({
  auditId: Id,
  businessId: Id,
  action: z.string(),
  entityType: z.string(),
  entityId: z.string().nullable(),
  programId: Id.nullable(),
  submissionId: Id.nullable(),
  actorType: z.enum(["token", "user", "applicant", "reviewer", "system"]),
  actorId: z.string(),
  /** Name of the token or the account, or of the reviewer or applicant if the caller may read it. It is looked up, not stored. */
  actorName: personal(z.string()).optional(),
  tokenId: Id.nullable(),
  /** The account of the signed-in person who approved the change. Services without accounts do not send it. */
  approvedBy: Id.optional(),
  /** Name of that person. It is looked up, not stored. */
  approverName: personal(z.string()).optional(),
  requestId: z.string(),
  /** HTTP status of a request that changed nothing (a read or a rejected change); null for a change. */
  status: z.int().nullable(),
  /** The request repeated an earlier one, and was answered with the stored result. */
  replayed: z.boolean().optional(),
  changes: z.array(z.object({ path: z.string(), from: z.unknown().optional(), to: z.unknown().optional() })),
  reason: personal(z.string().nullable()),
  occurredAt: Timestamp,
});
export type AuditEntry = z.output<typeof AuditEntry>;

export const list_audit_entries = operation({
  summary: "List audit entries",
  description: "Shows changes; reads and refusals with action, as in submission.read.",
  method: "GET",
  path: "/audit",
  resource: "programme://audit",
  scope: "audit:read",
  effect: "read",
  query: {
    submissionId: Id.optional(),
    programId: Id.optional(),
    action: boundedText(),
    entityType: boundedText(),
    ...pageQuery,
  },
  data: z.array(AuditEntry),
  audit: "audit.listed",
  errors: ["invalid_cursor"],
});

export const get_audit_entry = operation({
  summary: "Get an audit entry",
  method: "GET",
  path: "/audit/{auditId}",
  resource: "programme://audit/{auditId}",
  scope: "audit:read",
  effect: "read",
  data: AuditEntry,
  audit: "audit.read",
  errors: ["not_found"],
});

function boundedText() {
  return z.string().min(1).max(64).optional();
}
