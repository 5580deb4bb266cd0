import { toTextOrNull } from "../lib/json-value.ts";
import type { ChangeEntry } from "../store/port.ts";
import type { LogEntry } from "../store/queues/event-log.ts";

/** Identifies a changed record by its type and ids, without personal data. */
export interface RecordChange extends Omit<ChangeEntry, "auditId" | "occurredAt" | "commitNumber"> {
  /** Present for an entry of the event log. */
  readonly eventType?: string;
}

/**
 * Lists the records that an event reports as changed, the log entry itself first. For events of the embedded service
 * that is all: the audit trail lists its changed records.
 */
export function listRecordChanges({ eventId, webhook, payload: { eventType, data } }: LogEntry): RecordChange[] {
  const { programId, submissionId } = data;
  const parents = { programId: toTextOrNull(programId), submissionId: toTextOrNull(submissionId) };
  const entry = { ...parents, entityType: "event", entityId: eventId, eventType };
  if (webhook === null) return [entry];
  const records = listMappings(eventType).map(({ entityType, id }) => ({
    ...parents,
    entityType,
    entityId: toTextOrNull(data[id]),
  }));
  return [entry, ...records];
}

interface RecordMapping {
  readonly entityType: string;
  /** The property of the event's data that names the record. */
  readonly id: string;
}

const [submission, assignment] = [
  { entityType: "submission", id: "submissionId" },
  { entityType: "assignment", id: "assignmentId" },
];

/** Types of records that change with an event of a type or of its noun. */
const mappings: Readonly<Record<string, readonly RecordMapping[]>> = {
  applicant: [{ entityType: "applicant", id: "applicantId" }],
  submission: [submission],
  // Withdrawing a submission or returning it to draft cancels its assignments.
  "submission.withdrawn": [submission, assignment],
  "submission.state_changed": [submission, assignment],
  supplement: [{ entityType: "supplement", id: "supplementResponseId" }],
  payment: [{ entityType: "payment", id: "paymentId" }, submission],
  review: [{ entityType: "review", id: "reviewId" }, assignment],
  feedback: [{ entityType: "feedback", id: "feedbackId" }],
  program: [{ entityType: "program", id: "programId" }],
};

/** Maps an unknown noun to records of that name. */
function listMappings(eventType: string): readonly RecordMapping[] {
  const noun = eventType.split(".")[0] ?? "";
  const known = [eventType, noun].find((name) => Object.hasOwn(mappings, name));
  return (known !== undefined && mappings[known]) || [{ entityType: noun, id: `${noun}Id` }];
}
