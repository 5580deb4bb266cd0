import type { CallName } from "../contract/index.ts";
import type { RecordChange } from "../upstream/port.ts";
import type { ResourceTarget } from "./target.ts";

/** Kinds of record that a read shows something of beside its own: counts, sums, expansions. */
const alsoShown: Partial<Record<CallName, readonly string[]>> = {
  get_submission_reviews_summary: ["assignment"],
  list_reviewers: ["assignment", "person"],
  get_reviewer: ["assignment", "person"],
  list_applicants: ["submission", "person"],
};

/**
 * Whether what a resource shows may be another after a change. Of arguments that a change does not tell, like a state,
 * the answer is yes: better one read too many than one too few.
 */
export function isAffected({ name, operation, input }: ResourceTarget, change: RecordChange): boolean {
  // An entry of the audit trail stays what it is; the trail grows with every change.
  if (name === "get_audit_entry") return false;
  if (change.eventType !== undefined) return name === "list_events" && isListed(input, change);
  const own = operation.audit.split(".")[0];
  const shown = name === "list_audit_entries" || own === change.entityType;
  if (!shown && !alsoShown[name]?.includes(change.entityType)) return false;
  const ids = listChangedIds(change);
  return Object.entries(input).every(([argument, value]) => (ids[argument] ?? value) === value);
}

/** Whether a list of events has an entry of the log, which comes to stand at one of its ends. */
function isListed({ type, submissionId }: ResourceTarget["input"], entry: RecordChange): boolean {
  return (type ?? entry.eventType) === entry.eventType && (submissionId ?? entry.submissionId) === entry.submissionId;
}

/** Names of arguments and the ids that the change has for them. */
function listChangedIds({
  entityType,
  entityId,
  programId,
  submissionId,
}: RecordChange): Readonly<Record<string, string | null>> {
  const own = `${entityType.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())}Id`;
  return { programId, submissionId, entityType, [own]: entityId };
}
