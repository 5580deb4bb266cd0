import type { AuditEntry } from "../contract/audit.ts";
import { maxLimit } from "../contract/definition/page.ts";
import { entityTypes } from "../contract/definition/record-kinds.ts";
import type { File } from "../contract/files.ts";
import { auditActions, type OperationName, operations } from "../contract/index.ts";
import type { Applicant, Person, PersonSchema } from "../contract/persons.ts";
import type { Program, Round, Track } from "../contract/programs.ts";
import type { Reviewer } from "../contract/reviewers.ts";
import type { Review } from "../contract/reviews.ts";
import type { Rubric, Schema } from "../contract/schemas.ts";
import type { Submission } from "../contract/submissions.ts";
import { eventTypes } from "../contract/webhooks.ts";
import type { ResourceReader } from "./session.ts";

/** A possible value of a variable, with labels to find it by. */
export interface Candidate {
  readonly value: string;
  readonly labels: readonly (string | null | undefined)[];
}

/** The text typed so far, and the values chosen for other variables. */
export interface CompletionInput {
  readonly text: string;
  readonly chosen: Readonly<Record<string, string>>;
}

/** Most calls of one completion. */
const maxCalls = 8;
/** Most pages that are read of a list. */
const maxPages = 3;
/** Most programmes that are searched if none is chosen. */
const maxPrograms = 3;

/**
 * Returns possible values of a variable from records that the caller may read, or none for a variable without a source.
 */
export async function findCandidates(
  reader: ResourceReader,
  variable: string,
  input: CompletionInput,
): Promise<Candidate[]> {
  const source = sources[variable];
  return source ? source(createRecordReader(reader), input) : [];
}

type Arguments = Readonly<Record<string, unknown>>;

/** Reads records for one completion, up to its limit of calls. */
interface RecordReader {
  /** Returns the rows of a list, or none if the caller may not read it. */
  list<Row>(name: OperationName, input?: Arguments): Promise<Row[]>;
  /** Returns a record, or `undefined` if the caller may not read it. */
  get<Row>(name: OperationName, input: Arguments): Promise<Row | undefined>;
}

function createRecordReader({ ask }: ResourceReader): RecordReader {
  let calls = 0;
  async function call(operation: OperationName, input: Arguments) {
    if (++calls > maxCalls) return undefined;
    const answer = await ask(operation, input);
    return answer.ok ? answer : undefined;
  }
  return {
    async list<Row>(name: OperationName, input: Arguments = {}) {
      const rows: Row[] = [];
      const { paginated } = operations[name];
      let lastEvaluatedKey: string | undefined;
      for (let page = 0; page < maxPages; page++) {
        const position = { limit: maxLimit, ...(lastEvaluatedKey === undefined ? {} : { lastEvaluatedKey }) };
        const answer = await call(name, paginated ? { ...input, ...position } : input);
        if (!answer) break;
        rows.push(...(answer.data as Row[]));
        lastEvaluatedKey = answer.page?.lastEvaluatedKey;
        if (lastEvaluatedKey === undefined) break;
      }
      return rows;
    },
    get: async <Row>(name: OperationName, input: Arguments) => (await call(name, input))?.data as Row | undefined,
  };
}

type CandidateSource = (records: RecordReader, input: CompletionInput) => Promise<Candidate[]> | Candidate[];

const sources: Readonly<Record<string, CandidateSource>> = {
  programId: async (records) =>
    (await records.list<Program>("list_programs")).map(({ programId, name, year }) =>
      createCandidate(programId, name, String(year)),
    ),
  trackId: async (records, input) =>
    (await listTracks(records, input)).map(({ trackId, name }) => createCandidate(trackId, name)),
  roundId: async (records, input) =>
    (await listRounds(records, input)).map(({ roundId, name }) => createCandidate(roundId, name)),
  schemaId: async (records, input) =>
    (await listTracks(records, input)).map(({ schemaId, name }) => createCandidate(schemaId, name)),
  rubricId: async (records, input) =>
    (await listRounds(records, input)).map(({ rubricId, name }) => createCandidate(rubricId, name)),
  version: async (records, { chosen: { schemaId, rubricId } }) => {
    const schema = schemaId && (await records.get<Schema>("get_schema", { schemaId }));
    const rubric = rubricId && (await records.get<Rubric>("get_rubric", { rubricId }));
    const latest = schema ? schema.schemaVersion : rubric ? rubric.rubricVersion : 0;
    return Array.from({ length: Math.min(latest, maxLimit) }, (_, index) => createCandidate(String(latest - index)));
  },
  submissionId: async (records, input) =>
    (await listSubmissions(records, input)).map(({ submissionId, title }) => createCandidate(submissionId, title)),
  fileId: async (records, input) => {
    const { submissionId } = input.chosen;
    if (submissionId === undefined) return (await listSubmissions(records, input)).flatMap(listFiles);
    const files = await records.list<File>("list_submission_files", { submissionId });
    return files.map(({ fileId, fileName }) => createCandidate(fileId, fileName));
  },
  personId: async (records, input) => [
    ...(await records.list<Person>("list_persons")).map((person) =>
      createCandidate(person.personId, ...listPersonNames(person)),
    ),
    ...(await listReviewers(records, input)).flatMap(({ personId, ...reviewer }) =>
      personId === null ? [] : [createCandidate(personId, formatName(reviewer))],
    ),
  ],
  reviewerId: async (records, input) =>
    (await listReviewers(records, input)).map((row) =>
      createCandidate(row.reviewerId, formatName(row), row.affiliation),
    ),
  search: async (records, input) =>
    (await listReviewers(records, input)).map((row) => createCandidate(formatName(row))),
  recipientEmail: listAddresses,
  email: listAddresses,
  reviewId: async (records, { chosen }) =>
    (await records.list<Review>("list_reviews", pick(chosen, "submissionId", "roundId", "reviewerId"))).map((row) =>
      createCandidate(row.reviewId, row.submissionId, row.reviewerId),
    ),
  feedbackIds: async (records, { chosen, text }) => {
    const prefix = text.slice(0, text.lastIndexOf(",") + 1);
    const filter = { ...pick(chosen, "programId"), entityType: "feedback" };
    const entries = await records.list<AuditEntry>("list_audit_entries", filter);
    return entries.flatMap(({ entityId, submissionId }) =>
      entityId ? [createCandidate(prefix + entityId, submissionId)] : [],
    );
  },
  auditId: async (records, { chosen }) =>
    (await records.list<AuditEntry>("list_audit_entries", pick(chosen, "submissionId", "programId"))).map((row) =>
      createCandidate(row.auditId, row.action, row.entityId),
    ),
  exportId: async (records) =>
    (await records.list<AuditEntry>("list_audit_entries", { entityType: "export" })).flatMap(
      ({ entityId, programId }) => (entityId === null ? [] : [createCandidate(entityId, programId)]),
    ),
  includePersonFieldIds: async (records, { text }) => {
    const schema = await records.get<PersonSchema>("get_person_schema", {});
    // The text is a comma-separated list, of which the last item is completed.
    const prefix = text.slice(0, text.lastIndexOf(",") + 1);
    return (schema?.fields ?? []).map(({ fieldId, key, label }) =>
      createCandidate(prefix + fieldId, prefix + key, prefix + label),
    );
  },
  namespace: async (records) => (await listRefs(records)).map((ref) => createCandidate(ref.namespace)),
  objectType: async (records) => (await listRefs(records)).map((ref) => createCandidate(ref.objectType)),
  externalId: async (records) =>
    (await listRefs(records)).flatMap(({ externalId }) => (externalId ? [createCandidate(externalId)] : [])),
  platformUserId: async (records) =>
    (await records.list<Person>("list_persons")).flatMap((person) =>
      person.platformUserId ? [createCandidate(person.platformUserId, ...listPersonNames(person))] : [],
    ),
  since: listDates,
  submittedFrom: listDates,
  submittedTo: listDates,
  updatedSince: listDates,
  updatedAfter: listDates,
  action: () => auditActions.map((action) => createCandidate(action)),
  entityType: () => entityTypes.map((type) => createCandidate(type)),
  type: () => eventTypes.map((type) => createCandidate(type)),
  limit: () => ["10", "25", "50", "100"].map((limit) => createCandidate(limit)),
};

function createCandidate(value: string, ...labels: Candidate["labels"]): Candidate {
  return { value, labels };
}

function pick(chosen: CompletionInput["chosen"], ...names: readonly string[]): Arguments {
  return Object.fromEntries(names.filter((name) => chosen[name]).map((name) => [name, chosen[name]]));
}

/** Returns the chosen programme, or the newest ones, those underway first. */
async function listProgramIds(records: RecordReader, { chosen }: CompletionInput): Promise<string[]> {
  if (chosen["programId"]) return [chosen["programId"]];
  const programs = await records.list<Program>("list_programs");
  const underway = programs.filter(({ lifecycleStatus }) => lifecycleStatus === "underway");
  return [...new Set([...underway, ...programs])].slice(0, maxPrograms).map(({ programId }) => programId);
}

async function listTracks(records: RecordReader, input: CompletionInput): Promise<Track[]> {
  const tracks: Track[] = [];
  for (const programId of await listProgramIds(records, input)) {
    tracks.push(...(await records.list<Track>("list_tracks", { programId })));
  }
  return tracks;
}

async function listRounds(records: RecordReader, input: CompletionInput): Promise<Round[]> {
  const { trackId } = input.chosen;
  const rounds: Round[] = [];
  for (const programId of await listProgramIds(records, input)) {
    rounds.push(...(await records.list<Round>("list_rounds", { programId })));
  }
  return trackId ? rounds.filter((round) => round.trackId === trackId) : rounds;
}

function listSubmissions(records: RecordReader, { chosen }: CompletionInput): Promise<Submission[]> {
  return records.list<Submission>("list_submissions", pick(chosen, "programId", "trackId", "roundId", "state"));
}

/** Finds reviewers by the typed part of their names, or all of them while it may be an id. */
function listReviewers(records: RecordReader, { text, chosen }: CompletionInput): Promise<Reviewer[]> {
  const search = text === "" || /^[a-z]{3}_/.test(text) ? {} : { search: text };
  return records.list<Reviewer>("list_reviewers", { ...pick(chosen, "programId", "roundId"), ...search });
}

/** Finds addresses by name. The address itself may be hidden from the caller. */
async function listAddresses(records: RecordReader, input: CompletionInput): Promise<Candidate[]> {
  const applicants = await records.list<Applicant>("list_applicants", pick(input.chosen, "programId", "trackId"));
  const reviewers = await listReviewers(records, input);
  return [
    ...applicants.map(({ email, name }) => createCandidate(email, name)),
    ...reviewers.map((reviewer) => createCandidate(reviewer.email, formatName(reviewer))),
  ];
}

/** Returns the first and last days of programmes. */
async function listDates(records: RecordReader, input: CompletionInput): Promise<Candidate[]> {
  const programs = (await records.list<Program>("list_programs")).filter(
    ({ programId }) => programId === (input.chosen["programId"] ?? programId),
  );
  return programs.flatMap(({ startDate, endDate, name }) =>
    [startDate, endDate].flatMap((date) => (date === null ? [] : [createCandidate(date.slice(0, 10), name)])),
  );
}

async function listRefs(records: RecordReader): Promise<Person["externalRefs"]> {
  return (await records.list<Person>("list_persons")).flatMap(({ externalRefs }) => externalRefs);
}

function listFiles({ fileIds, title }: Submission): Candidate[] {
  return fileIds.map((fileId) => createCandidate(fileId, title));
}

function listPersonNames({ contactDetails, primaryEmail }: Person): Candidate["labels"] {
  return [formatName(contactDetails ?? {}), contactDetails?.organization, primaryEmail];
}

function formatName({ firstName, lastName }: Readonly<Partial<Record<string, unknown>>>): string {
  return [firstName, lastName].filter(Boolean).join(" ");
}
