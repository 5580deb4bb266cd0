import type { OperationName } from "../../src/contract/index.ts";
import type { DatedEntry } from "./dated-lists/dated-pages.ts";

/** The records of one tenant in the reference model, and what its parts share. */

export interface ModelAssignment {
  readonly assignmentId: string;
  readonly submissionId: string;
  readonly reviewerId: string;
  readonly roundId: string;
  readonly source: string;
  readonly reassignedFromId: string | null;
  status: string;
  version: number;
  active: boolean;
}

/** A review, which no request changes. */
export interface ModelReview {
  readonly reviewId: string;
  readonly assignmentId: string;
  readonly submissionId: string;
  readonly reviewerId: string;
  readonly roundId: string;
  readonly status: string;
  readonly scores: readonly { readonly criterionId: string; readonly value: unknown }[];
  readonly totalScore: number | null;
  readonly weightedScore: number | null;
  readonly [name: string]: unknown;
}

export interface ModelSubmission {
  readonly submissionId: string;
  state: string;
  previousState: string | null;
  stateReason: string | null;
  title: string | null;
  eligible: boolean | null;
  currentRoundId: string | null;
  /** The value of the field by which reviewers with expertise are found. */
  readonly domain: string | null;
  /** The address of the applicant, and the name if the applicant has a record. */
  readonly innovatorEmail: string;
  readonly applicantName: string | null;
  version: number;
  assignments: ModelAssignment[];
}

export interface ModelReviewer {
  readonly reviewerId: string;
  readonly email: string;
  firstName: string | null;
  lastName: string | null;
  role: string;
  status: string;
  expertise: readonly string[];
  programIds: readonly string[];
  roundIds: readonly string[];
  /** The latest invitation. Two in one millisecond do not change it. */
  invitedAt: string;
  version: number;
}

/** A message that waits for its dispatch, or is suppressed. */
export interface ModelEmailSend {
  readonly recipientEmail: string;
  readonly recipientKind: string;
  readonly template: string | null;
  readonly subject: string;
  readonly programId: string | null;
  readonly bulkId: string | null;
  readonly status: string;
}

/** Applicants have the address of their first submission. */
export interface ModelApplicant extends DatedEntry {
  readonly applicantId: string;
  readonly innovatorId: string;
  readonly email: string;
  readonly name: string;
  readonly programIds: readonly string[];
  readonly trackIds: readonly string[];
  /** The person whom a submission has found by the address. */
  personId: string | null;
  version: number;
}

export interface ModelRef {
  readonly namespace: string;
  readonly objectType: string;
  readonly externalId: string;
}

export interface ModelPerson {
  readonly personId: string;
  primaryEmail: string | undefined;
  lastName: string;
  kinds: string[];
  externalRefs: ModelRef[];
  active: boolean;
  mergedIntoPersonId: string | null;
  version: number;
  /** ISO time. */
  readonly createdAt: string;
}

/** A row of a section of an export's file, as text that is compared. */
export interface SectionRow {
  readonly section: string;
  readonly id: string;
  readonly text: string;
}

export interface ModelExport {
  readonly exportId: string;
  /** The token that created it, of which each may create one in five minutes. */
  readonly token: number;
  readonly trackId: string | null;
  readonly state: string | null;
  readonly submittedTo: string | null;
  readonly fieldIds: readonly string[] | null;
  isCompleted: boolean;
  /** The rows that its file may hold, as they were at any time since the creation. */
  readonly ever: Set<string>;
  /** The rows that its file must hold, because they were there all the time; not known in the moment of creation. */
  always: Set<string> | undefined;
}

export interface ModelChange {
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

export interface ModelAuditEntry extends DatedEntry {
  /** The id of the changed record, or its type if no answer gives its id. */
  readonly recordId: string;
  /** The changed or named record, if the model knows its id. */
  readonly entityId: string | null | undefined;
  readonly shown: Readonly<Record<string, unknown>>;
  /** The paths of properties that the model knows. */
  readonly knownPaths: readonly string[];
  /** Changes of these paths; those of all paths since an answer has shown them. */
  readonly changes: readonly ModelChange[];
}

// biome-ignore lint/suspicious/noExplicitAny: the filters of any list
export type ListFilter = Readonly<Record<string, any>>;

/** The end of a page that has a next one. */
export interface ModelCursor {
  readonly cursor: string;
  readonly name: OperationName;
  readonly filter: ListFilter;
  /** The ids of the rows up to here. */
  readonly returned: ReadonlySet<string>;
  /** The ids of the rows that were in the list since its first page. */
  always: ReadonlySet<string>;
  /** The last row up to here, in a list whose order the model knows. */
  readonly last?: { readonly id: string; readonly at: string };
}

export interface ModelEvent {
  readonly subject: string;
  readonly eventType: string;
  readonly version: number;
  readonly change?: string;
}

export interface ModelTenant {
  /** The ids of its records that never change. */
  readonly fixed: Fixed;
  program: { version: number; lifecycleStatus: string };
  track: { version: number; intakeOpen: boolean };
  /** In their order. At first all but the last are active. */
  rounds: { roundId: string; version: number; active: boolean }[];
  /** Feedback for the tenant's first submission. */
  feedbacks: { feedbackId: string; body: string; version: number; released: boolean }[];
  /** The response to a request that every tenant's first submission has. */
  supplement: { version: number; status: string };
  submissions: ModelSubmission[];
  applicants: ModelApplicant[];
  reviewers: ModelReviewer[];
  /** The reviewer of each invitation. */
  invitations: string[];
  emailSends: ModelEmailSend[];
  persons: ModelPerson[];
  exports: ModelExport[];
  cursors: ModelCursor[];
  /** Texts of saved answers, by the fingerprint of the request. */
  answers: Map<string, string>;
  events: ModelEvent[];
  /** Audited changes: the id of the record and the action. */
  changes: string[];
  /** The audit entries of these changes, and of some requests that changed nothing. */
  auditEntries: ModelAuditEntry[];
}

export interface Fixed {
  readonly businessId: string;
  /** In the order in which calls name them. */
  readonly tokens: readonly { readonly tokenId: string; readonly name: string }[];
  readonly programId: string;
  readonly programName: string;
  readonly trackId: string;
  readonly personId: string;
  readonly personEmail: string;
  readonly supplementResponseId: string;
  /** Field values of the person, without and with those that are sensitive. */
  readonly openFields: Readonly<Record<string, string>>;
  readonly allFields: Readonly<Record<string, string>>;
  readonly titleFieldId: string;
  readonly screeningRequired: boolean;
  /** In their order. */
  readonly roundIds: readonly string[];
  /** Another programme, which never changes, with its round. */
  readonly other: { readonly programId: string; readonly roundId: string };
  readonly domainFieldId: string;
  /** Most submissions of a reviewer in a round. */
  readonly maxPerReviewer: number | null;
  /** The oldest first. */
  readonly payments: readonly Readonly<Record<string, unknown>>[];
  readonly files: readonly {
    readonly fileId: string;
    readonly submissionId: string | null;
    readonly scanStatus: string;
  }[];
  /** The versions of a form and of a rubric after the first. */
  readonly schemas: readonly FormVersion[];
  readonly rubrics: readonly FormVersion[];
  /** Addresses that get no e-mail. */
  readonly suppressedEmails: readonly string[];
  /** Whole records, the newest first. */
  readonly reviews: readonly ModelReview[];
  /** The active published schema of persons. */
  readonly personSchema: Readonly<Record<string, unknown>>;
  /** Records about people that never change. */
  readonly people: {
    /** The person is this reviewer. */
    readonly person: { readonly personId: string; readonly reviewerId: string };
    readonly attestations: readonly Readonly<Record<string, string | boolean>>[];
  };
}

interface FormVersion {
  readonly version: number;
  readonly row: Readonly<Record<string, unknown>>;
}

/** The token of a request. */
export interface ModelCaller {
  readonly token: number;
  readonly mayReadSensitive: boolean;
  readonly mayReadPersons: boolean;
}

/** The token of a call, and what only the real answer says. */
export interface CallContext extends ModelCaller {
  readonly meta: AnsweredMeta | undefined;
  readonly exchange: ModelExchange;
}

/** When a request was sent and answered, in milliseconds, and the circumstances that its audit entries show. */
export interface ModelExchange {
  readonly requestId: string;
  readonly status: number;
  readonly isReplay: boolean;
  readonly sentAt: number;
  readonly answeredAt: number;
}

interface AnsweredMeta {
  readonly lastEvaluatedKey?: string;
}

/** The parts of a real answer that the model cannot know before: ids of new records, and cursors. */
export interface AnsweredBody {
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly meta?: AnsweredMeta | undefined;
  readonly exchange: ModelExchange;
}

/** A request as it was sent. */
export interface ModelRequest {
  readonly name: OperationName;
  // biome-ignore lint/suspicious/noExplicitAny: the arguments of any operation
  readonly input: any;
  /** The token and the idempotency key, if there is one. */
  readonly key: string | undefined;
  /** True if the token has the scope of the operation. */
  readonly isGranted: boolean;
  readonly caller: ModelCaller;
}

/** Properties of one record, or of each record of a list. */
type Shown = Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[];

/** The answer that the model expects. */
export interface Expected {
  readonly status: number;
  readonly code?: string;
  /** Properties of `data`. */
  readonly data?: Shown;
  /** True if `data` has these properties and no others. */
  readonly isWhole?: boolean;
  readonly meta?: { readonly hasMore: boolean };
  /** The text of an earlier answer, which must come again. */
  readonly replayed?: string;
}

export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

export type Handler = (
  tenant: ModelTenant,
  input: ModelRequest["input"],
  answered: Readonly<Record<string, unknown>>,
  context: CallContext,
) => Expected;

export function ok(data: Shown): Expected {
  return { status: 200, data };
}

/** Expects `data` to be exactly this. */
export function okWhole(data: Shown): Expected {
  return { ...ok(data), isWhole: true };
}

/** Returns a list's expected rows in the order of the answer. A row that the answer lacks comes first. */
export function inAnsweredOrder<R extends object>(
  answered: unknown,
  idName: keyof R & string,
  rows: readonly R[],
): R[] {
  const ids = Array.isArray(answered) ? answered.map((row) => row[idName]) : [];
  return rows.toSorted((one, other) => ids.indexOf(one[idName]) - ids.indexOf(other[idName]));
}

export function listAssignments({ submissions }: ModelTenant): ModelAssignment[] {
  return submissions.flatMap(({ assignments }) => assignments);
}

/** Statuses of assignments whose reviews are expected (specification 4.4). */
export const incompleteStatuses: readonly string[] = ["assigned", "accepted", "conflict"];

/** Returns whether an assignment counts as work of its reviewer: the review is expected or done. */
export function isWorkload({ active, status }: ModelAssignment): boolean {
  return active && (status === "completed" || incompleteStatuses.includes(status));
}

export function findSubmission({ submissions }: ModelTenant, submissionId: string): ModelSubmission {
  const submission = submissions.find((each) => each.submissionId === submissionId);
  if (!submission) throw new Refusal(404, "not_found");
  return submission;
}

export function requireWritable({ program }: ModelTenant): void {
  if (program.lifecycleStatus === "archived") throw new Refusal(409, "program_archived");
}

export function emit(
  tenant: ModelTenant,
  { submissionId, version }: ModelSubmission,
  eventType: string,
  change?: string,
): void {
  tenant.events.push({ subject: submissionId, eventType, version, ...(change === undefined ? {} : { change }) });
}

export function audit(tenant: ModelTenant, id: string, action: string): void {
  tenant.changes.push(`${id} ${action}`);
}

export function showSubmission({
  assignments: _,
  applicantName: _name,
  domain: _domain,
  ...submission
}: ModelSubmission): Readonly<Record<string, unknown>> {
  return submission;
}
