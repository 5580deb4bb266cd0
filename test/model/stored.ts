import type { Person } from "../../src/contract/persons.ts";
import type { Reader } from "../../src/store/port.ts";
import type { Row, TableName } from "../../src/store/tables.ts";
import { listChanges } from "../support/data/state.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import type {
  ModelApplicant,
  ModelAssignment,
  ModelAuditEntry,
  ModelEmailSend,
  ModelExport,
  ModelReviewer,
  ModelTenant,
} from "./tenant.ts";

/** Returns what the store holds at the end, in the model's terms. */
export async function readStore({ app, businessId }: TestServer) {
  const reader = app.store.reader(businessId);
  const events = (await app.store.listEvents(businessId, 100_000)).map(({ eventType, data }) => {
    const { submissionId, programId, version, fromState, toState, operation, fromStatus, toStatus } =
      data as unknown as Record<string, string>;
    const change = fromState ? `${fromState} ${toState} ${operation}` : fromStatus && `${fromStatus} ${toStatus}`;
    return { subject: submissionId ?? programId, eventType, version, ...(change ? { change } : {}) };
  });
  const requested = (await listChanges(app.store, businessId)).filter(({ action }) => !backgroundActions.has(action));
  const changes = requested.map(({ entityType, entityId, action, requestId }) => {
    return `${unanswered.has(entityType) ? entityType : entityId} ${action} ${requestId}`;
  });
  return {
    submissions: await reader.count("submissions", {}),
    applicants: await describeRows(reader, "applicants", describeApplicant),
    persons: await listPersons(reader),
    assignments: await describeRows(reader, "assignments", describeAssignment),
    rounds: await describeRows(reader, "rounds", describeRound),
    reviewers: await describeRows(reader, "reviewers", describeReviewer),
    invitations: await describeRows(reader, "invitations", ({ reviewerId }) => reviewerId),
    emailSends: await describeRows(reader, "emailSends", describeEmailSend),
    feedbacks: await describeRows(reader, "feedbacks", describeFeedback),
    exports: await describeRows(reader, "exports", ({ filters, ...job }) => describeExport({ ...job, ...filters })),
    events: events.map((event) => JSON.stringify(event)).sort(),
    changes: changes.sort(),
  };
}

/** Changes that background work makes at any time. */
const backgroundActions: ReadonlySet<string> = new Set(["export.completed", "email_send.sent"]);

/** Records whose ids no answer gives. */
const unanswered: ReadonlySet<string> = new Set(["invitation", "email_send"]);

/** The persons that the requests made, without the one that never changes. */
async function listPersons(reader: Reader): Promise<string[]> {
  const persons: string[] = [];
  for await (const row of reader.scan("persons", {})) {
    if (Object.keys(row.customFields).length === 0) persons.push(describePerson(row));
  }
  return persons.sort();
}

async function describeRows<T extends TableName>(
  reader: Reader,
  table: T,
  describe: (row: Row<T>) => string,
): Promise<string[]> {
  const texts: string[] = [];
  for await (const row of reader.scan(table, {})) texts.push(describe(row));
  return texts.sort();
}

function describeApplicant({ applicantId, personId }: Pick<ModelApplicant, "applicantId" | "personId">): string {
  return `${applicantId} ${personId}`;
}

function describeAssignment(assignment: ModelAssignment): string {
  const { assignmentId, submissionId, reviewerId, status, version, active } = assignment;
  return `${assignmentId} ${submissionId} ${reviewerId} ${status} ${version} ${active}`;
}

function describeRound({ roundId, version, active }: ModelTenant["rounds"][number]): string {
  return `${roundId} ${version} ${active}`;
}

function describeReviewer({ reviewerId, status, version, roundIds, expertise }: ModelReviewer): string {
  return `${reviewerId} ${status} ${version} ${roundIds} ${expertise}`;
}

function describeEmailSend(send: ModelEmailSend): string {
  const { recipientEmail, recipientKind, template, subject, programId, bulkId, status } = send;
  const shown = status === "sent" ? "queued" : status;
  return `${recipientEmail} ${recipientKind} ${template} ${subject} ${programId} ${bulkId} ${shown}`;
}

function describeFeedback({ feedbackId, version, released }: ModelTenant["feedbacks"][number]): string {
  return `${feedbackId} ${version} ${released}`;
}

function describePerson(person: Pick<Person, "personId" | "version" | "mergedIntoPersonId" | "externalRefs">) {
  const { personId, version, mergedIntoPersonId, externalRefs } = person;
  return `${personId} ${version} ${mergedIntoPersonId} ${externalRefs.map(({ externalId }) => externalId)}`;
}

function describeExport({ exportId, trackId, state }: Pick<ModelExport, "exportId" | "trackId" | "state">): string {
  return `${exportId} ${trackId} ${state}`;
}

function describeChange({ recordId, shown }: ModelAuditEntry): string {
  return `${recordId} ${shown["action"]} ${shown["requestId"]}`;
}

/** The same of the model. Sorted, because requests that do not touch the same record have no order. */
export function readModel(tenant: ModelTenant) {
  const { fixed, submissions, applicants, persons, reviewers, invitations, emailSends } = tenant;
  const { feedbacks, exports, events, auditEntries } = tenant;
  const rounds = [...tenant.rounds, { roundId: fixed.other.roundId, version: 0, active: true }];
  return {
    submissions: submissions.length,
    applicants: applicants.map(describeApplicant).sort(),
    persons: persons.map(describePerson).sort(),
    assignments: submissions.flatMap((each) => each.assignments.map(describeAssignment)).sort(),
    rounds: rounds.map(describeRound).sort(),
    reviewers: reviewers.map(describeReviewer).sort(),
    invitations: invitations.toSorted(),
    emailSends: emailSends.map(describeEmailSend).sort(),
    feedbacks: feedbacks.map(describeFeedback).sort(),
    exports: exports.map(describeExport).sort(),
    events: events
      .map(({ subject, eventType, version, ...change }) => JSON.stringify({ subject, eventType, version, ...change }))
      .sort(),
    changes: auditEntries
      .filter(({ isCertain }) => isCertain)
      .map(describeChange)
      .sort(),
  };
}
