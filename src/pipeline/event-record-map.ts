import type { ChangeEntry } from "../store/port.ts";
import type { LogEntry } from "../store/queues/event-log.ts";

/** Which record changed, by kind and ids: nothing personal. */
export interface RecordChange extends Omit<ChangeEntry, "auditId" | "occurredAt" | "turn"> {
  /** Of an entry of the event log. */
  readonly eventType?: string;
}

/** What changed by the word of an event, the log itself first. The embedded service's own records tell of themselves. */
export function listRecordChanges({ eventId, webhook, payload: { eventType, data } }: LogEntry): RecordChange[] {
  const { programId, submissionId } = data;
  const about = { programId: toTextOrNull(programId), submissionId: toTextOrNull(submissionId) };
  const entry = { ...about, entityType: "event", entityId: eventId, eventType };
  if (webhook === null) return [entry];
  const records = listMappings(eventType).map(({ entityType, id }) => ({
    ...about,
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

/** Kinds of record that are others after an event of a type, or of its noun. */
const told: Readonly<Record<string, readonly RecordMapping[]>> = {
  applicant: [{ entityType: "applicant", id: "applicantId" }],
  submission: [submission],
  // What is withdrawn, or a draft again, has no assignments under way.
  "submission.withdrawn": [submission, assignment],
  "submission.state_changed": [submission, assignment],
  supplement: [{ entityType: "supplement", id: "supplementResponseId" }],
  payment: [{ entityType: "payment", id: "paymentId" }, submission],
  review: [{ entityType: "review", id: "reviewId" }, assignment],
  feedback: [{ entityType: "feedback", id: "feedbackId" }],
  program: [{ entityType: "program", id: "programId" }],
};

/** Of a noun that the interface does not know, whatever goes by its name. */
function listMappings(eventType: string): readonly RecordMapping[] {
  const noun = eventType.split(".")[0] ?? "";
  const known = [eventType, noun].find((name) => Object.hasOwn(told, name));
  return (known !== undefined && told[known]) || [{ entityType: noun, id: `${noun}Id` }];
}

function toTextOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
