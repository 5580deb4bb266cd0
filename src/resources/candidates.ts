import type { AuditEntry } from "../contract/audit.ts";
import { maxLimit } from "../contract/definition/page.ts";
import type { File } from "../contract/files.ts";
import { type OperationName, operationNames, operations } from "../contract/index.ts";
import type { Applicant, Person, PersonSchema } from "../contract/persons.ts";
import type { Program, Round, Track } from "../contract/programs.ts";
import type { Reviewer } from "../contract/reviewers.ts";
import type { Review } from "../contract/reviews.ts";
import type { Rubric, Schema } from "../contract/schemas.ts";
import type { Submission } from "../contract/submissions.ts";
import { eventTypes } from "../contract/webhooks.ts";
import type { Reading } from "./session.ts";

/** A value that a variable can take, and what else it can be found by. */
export interface Candidate {
  readonly value: string;
  readonly labels: readonly (string | null | undefined)[];
}

/** What has been typed of a variable, and what else was chosen before. */
export interface Typed {
  readonly text: string;
  readonly chosen: Readonly<Record<string, string>>;
}

/** Calls that one completion may cost. */
const maxCalls = 8;
/** Pages of a list that are looked through. */
const maxPages = 3;
/** Programmes that are looked into where none is chosen. */
const maxPrograms = 3;

/** The values of a variable among the records that the caller may see; none for variables that no records name. */
export async function findCandidates(reading: Reading, variable: string, typed: Typed): Promise<Candidate[]> {
  const source = sources[variable];
  return source ? source(createRecords(reading), typed) : [];
}

type Arguments = Readonly<Record<string, unknown>>;

/** Reads for one completion, within its number of calls. */
interface Records {
  /** Rows of a list; none where the caller may not read it. */
  list<Row>(name: OperationName, input?: Arguments): Promise<Row[]>;
  /** A record; nothing where the caller may not read it. */
  one<Row>(name: OperationName, input: Arguments): Promise<Row | undefined>;
}

function createRecords({ ask }: Reading): Records {
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
    one: async <Row>(name: OperationName, input: Arguments) => (await call(name, input))?.data as Row | undefined,
  };
}

type Source = (records: Records, typed: Typed) => Promise<Candidate[]> | Candidate[];

const audits = [...new Set(operationNames.map((name) => operations[name].audit))].sort();

const sources: Readonly<Record<string, Source>> = {
  programId: async (records) =>
    (await records.list<Program>("list_programs")).map(({ programId, name, year }) =>
      createCandidate(programId, name, String(year)),
    ),
  trackId: async (records, typed) =>
    (await listTracks(records, typed)).map(({ trackId, name }) => createCandidate(trackId, name)),
  roundId: async (records, typed) =>
    (await listRounds(records, typed)).map(({ roundId, name }) => createCandidate(roundId, name)),
  schemaId: async (records, typed) =>
    (await listTracks(records, typed)).map(({ schemaId, name }) => createCandidate(schemaId, name)),
  rubricId: async (records, typed) =>
    (await listRounds(records, typed)).map(({ rubricId, name }) => createCandidate(rubricId, name)),
  version: async (records, { chosen: { schemaId, rubricId } }) => {
    const schema = schemaId && (await records.one<Schema>("get_schema", { schemaId }));
    const rubric = rubricId && (await records.one<Rubric>("get_rubric", { rubricId }));
    const latest = schema ? schema.schemaVersion : rubric ? rubric.rubricVersion : 0;
    return Array.from({ length: Math.min(latest, maxLimit) }, (_, index) => createCandidate(String(latest - index)));
  },
  submissionId: async (records, typed) =>
    (await listSubmissions(records, typed)).map(({ submissionId, title }) => createCandidate(submissionId, title)),
  fileId: async (records, typed) => {
    const { submissionId } = typed.chosen;
    if (submissionId === undefined) return (await listSubmissions(records, typed)).flatMap(listFiles);
    const files = await records.list<File>("list_submission_files", { submissionId });
    return files.map(({ fileId, fileName }) => createCandidate(fileId, fileName));
  },
  personId: async (records, typed) => [
    ...(await records.list<Person>("list_persons")).map((person) =>
      createCandidate(person.personId, ...listPersonNames(person)),
    ),
    ...(await listReviewers(records, typed)).flatMap(({ personId, ...reviewer }) =>
      personId === null ? [] : [createCandidate(personId, formatName(reviewer))],
    ),
  ],
  reviewerId: async (records, typed) =>
    (await listReviewers(records, typed)).map((row) =>
      createCandidate(row.reviewerId, formatName(row), row.affiliation),
    ),
  search: async (records, typed) =>
    (await listReviewers(records, typed)).map((row) => createCandidate(formatName(row))),
  recipientEmail: listAddresses,
  email: listAddresses,
  reviewId: async (records, { chosen }) =>
    (await records.list<Review>("list_reviews", pick(chosen, "submissionId", "roundId", "reviewerId"))).map((row) =>
      createCandidate(row.reviewId, row.submissionId, row.reviewerId),
    ),
  feedbackIds: async (records, { chosen, text }) => {
    const before = text.slice(0, text.lastIndexOf(",") + 1);
    const filter = { ...pick(chosen, "programId"), entityType: "feedback" };
    const entries = await records.list<AuditEntry>("list_audit_entries", filter);
    return entries.flatMap(({ entityId, submissionId }) =>
      entityId ? [createCandidate(before + entityId, submissionId)] : [],
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
    const schema = await records.one<PersonSchema>("get_person_schema", {});
    // A list separated by commas: its last item is being typed.
    const before = text.slice(0, text.lastIndexOf(",") + 1);
    return (schema?.fields ?? []).map(({ fieldId, key, label }) =>
      createCandidate(before + fieldId, before + key, before + label),
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
  action: () => audits.map((action) => createCandidate(action)),
  entityType: () => audits.map((action) => createCandidate(action.split(".")[0] ?? "")),
  type: () => eventTypes.map((type) => createCandidate(type)),
  limit: () => ["10", "25", "50", "100"].map((limit) => createCandidate(limit)),
};

function createCandidate(value: string, ...labels: Candidate["labels"]): Candidate {
  return { value, labels };
}

function pick(chosen: Typed["chosen"], ...names: readonly string[]): Arguments {
  return Object.fromEntries(names.filter((name) => chosen[name]).map((name) => [name, chosen[name]]));
}

/** The chosen programme, or the newest ones that are at work. */
async function listProgramIds(records: Records, { chosen }: Typed): Promise<string[]> {
  if (chosen["programId"]) return [chosen["programId"]];
  const programs = await records.list<Program>("list_programs");
  const underway = programs.filter(({ lifecycleStatus }) => lifecycleStatus === "underway");
  return [...new Set([...underway, ...programs])].slice(0, maxPrograms).map(({ programId }) => programId);
}

async function listTracks(records: Records, typed: Typed): Promise<Track[]> {
  const tracks: Track[] = [];
  for (const programId of await listProgramIds(records, typed)) {
    tracks.push(...(await records.list<Track>("list_tracks", { programId })));
  }
  return tracks;
}

async function listRounds(records: Records, typed: Typed): Promise<Round[]> {
  const { trackId } = typed.chosen;
  const rounds: Round[] = [];
  for (const programId of await listProgramIds(records, typed)) {
    rounds.push(...(await records.list<Round>("list_rounds", { programId })));
  }
  return trackId ? rounds.filter((round) => round.trackId === trackId) : rounds;
}

function listSubmissions(records: Records, { chosen }: Typed): Promise<Submission[]> {
  return records.list<Submission>("list_submissions", pick(chosen, "programId", "trackId", "roundId", "state"));
}

/** Reviewers by what is typed of their names; all of them while it may be an id. */
function listReviewers(records: Records, { text, chosen }: Typed): Promise<Reviewer[]> {
  const search = text === "" || /^[a-z]{3}_/.test(text) ? {} : { search: text };
  return records.list<Reviewer>("list_reviewers", { ...pick(chosen, "programId", "roundId"), ...search });
}

/** By name; what the address itself is, a posture may keep from the caller. */
async function listAddresses(records: Records, typed: Typed): Promise<Candidate[]> {
  const applicants = await records.list<Applicant>("list_applicants", pick(typed.chosen, "programId", "trackId"));
  const reviewers = await listReviewers(records, typed);
  return [
    ...applicants.map(({ email, name }) => createCandidate(email, name)),
    ...reviewers.map((reviewer) => createCandidate(reviewer.email, formatName(reviewer))),
  ];
}

/** The days on which something begins or ends. */
async function listDates(records: Records, typed: Typed): Promise<Candidate[]> {
  const programs = (await records.list<Program>("list_programs")).filter(
    ({ programId }) => programId === (typed.chosen["programId"] ?? programId),
  );
  return programs.flatMap(({ startDate, endDate, name }) =>
    [startDate, endDate].flatMap((date) => (date === null ? [] : [createCandidate(date.slice(0, 10), name)])),
  );
}

async function listRefs(records: Records): Promise<Person["externalRefs"]> {
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
