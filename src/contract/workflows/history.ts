import * as z from "zod";
import { AuditEntry } from "../audit.ts";
import { personal } from "../definition/field-annotations.ts";
import { DateFrom, DateTo, Id, Timestamp } from "../definition/fields.ts";
import { gaps, RowLimit, workflow } from "../definition/workflow.ts";

const { auditId, occurredAt, action, entityType, entityId, submissionId, actorType, actorId, changes, reason } =
  AuditEntry.shape;

const History = z.object({
  /** Newest first. */
  changes: z.array(
    z.object({
      auditId,
      occurredAt,
      action,
      entityType,
      entityId,
      submissionId,
      actorType,
      actorId,
      /** Name of a token or an account, or of a reviewer or applicant if the caller may read it; null if it is not known. */
      actorName: personal(z.string()).nullable(),
      /** Name of the person who approved the change in the browser. */
      approverName: personal(z.string()).optional(),
      /** Changed fields. Personal ones have no values. */
      fields: changes,
      reason,
    }),
  ),
  /** As `to`, it continues with older changes; null if there are none. */
  olderAt: Timestamp.nullable(),
  ...gaps,
});

export const get_history = workflow({
  summary: "Get who changed what from what to what, of a record or a programme",
  description: "Newest first, with names. recordId: id of any record. olderAt is the next `to`.",
  path: "/history",
  scope: "audit:read",
  reads: ["list_audit_entries", "list_reviewers"],
  query: {
    programId: Id.optional(),
    submissionId: Id.optional(),
    recordId: Id.optional(),
    from: DateFrom.optional(),
    to: DateTo.optional(),
    limit: RowLimit.default(20),
  },
  data: History,
  audit: "audit.history_read",
});
