import type { CallName } from "../contract/index.ts";
import type { RecordChange } from "../upstream/port.ts";
import type { ResourceTarget } from "./target.ts";

/** Other kinds of records whose changes affect a read: counts, sums, included persons. */
const relatedEntityTypes: Partial<Record<CallName, readonly string[]>> = {
  get_submission_reviews_summary: ["assignment"],
  list_reviewers: ["assignment", "person"],
  get_reviewer: ["assignment", "person"],
  list_applicants: ["submission", "person"],
};

/**
 * Returns whether a change may affect a resource. It assumes so if the change lacks the value of an argument, such as a
 * state: an unnecessary read is better than a missed one.
 */
export function isAffected({ name, operation, input }: ResourceTarget, change: RecordChange): boolean {
  // Audit entries never change; every change adds one to their list.
  if (name === "get_audit_entry") return false;
  if (change.eventType !== undefined) return name === "list_events" && isListed(input, change);
  const ownType = operation.audit.split(".")[0];
  const showsRecord = name === "list_audit_entries" || ownType === change.entityType;
  if (!showsRecord && !relatedEntityTypes[name]?.includes(change.entityType)) return false;
  const ids = listChangedIds(change);
  return Object.entries(input).every(([argument, value]) => (ids[argument] ?? value) === value);
}

/** Returns whether a list of events contains a new event. */
function isListed({ type, submissionId }: ResourceTarget["input"], entry: RecordChange): boolean {
  return (type ?? entry.eventType) === entry.eventType && (submissionId ?? entry.submissionId) === entry.submissionId;
}

/** Returns the ids of a change by the names of the arguments that they belong to. */
function listChangedIds({
  entityType,
  entityId,
  programId,
  submissionId,
}: RecordChange): Readonly<Record<string, string | null>> {
  const ownType = `${entityType.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())}Id`;
  return { programId, submissionId, entityType, [ownType]: entityId };
}
