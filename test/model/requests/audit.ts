import { listedActions } from "../dated-lists/audit-entries.ts";
import type { auditHandlers } from "../dated-lists/audit-lists.ts";
import type { ModelTenant } from "../tenant.ts";
import type { Call, RequestInput } from "./call.ts";

/** Creates a read of an entry that a list has shown. */
export function createAuditInput(
  { choice, target }: Call & { readonly name: keyof typeof auditHandlers },
  { auditEntries }: ModelTenant,
): RequestInput {
  const shown = auditEntries.filter(({ id }) => id !== undefined);
  return { auditId: shown.at(-1 - ((4 * choice + target) % (shown.length || 1)))?.id ?? "aud_unknown" };
}

const entityTypes = ["submission", "assignment", "person", "applicant", "email_send", "export"];

/** Lists without an action have changes only. */
export function createAuditFilter(
  { choice, target, key = 0, isForeign }: Call,
  submissionId: string,
  programId: string,
): RequestInput {
  switch (target) {
    case 0:
      return {};
    case 1:
      return choice % 2 ? { submissionId } : { programId };
    case 2:
      return { entityType: entityTypes[choice], ...(key > 1 || isForeign ? { programId } : {}) };
    default:
      return { action: listedActions[(choice + 6 * key) % listedActions.length] };
  }
}
