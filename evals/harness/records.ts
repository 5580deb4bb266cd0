import type { Assignment } from "../../src/contract/assignments.ts";
import type { AuditEntry } from "../../src/contract/audit.ts";
import type { Program, Round, Track } from "../../src/contract/programs.ts";
import type { Reviewer } from "../../src/contract/reviewers.ts";
import type { Submission } from "../../src/contract/submissions.ts";
import type { RestClient } from "./rest-client.ts";

/** The programme of the demonstration data that most tasks are about. */
const currentProgram = "Common Ground Fund 2026";

/** Returns the only record whose name or title is this one. */
function pickNamed<R extends object>(rows: readonly R[], key: keyof R, name: string): R {
  const [found, ...others] = rows.filter((row) => row[key] === name);
  if (!found || others.length > 0) throw new Error(`${others.length + (found ? 1 : 0)} records are called ${name}`);
  return found;
}

export async function findProgram(rest: RestClient, name = currentProgram): Promise<Program> {
  return pickNamed(await rest.list<Program>("/programs"), "name", name);
}

export async function findTrack(rest: RestClient, name: string): Promise<Track> {
  const { programId } = await findProgram(rest);
  return pickNamed(await rest.list<Track>(`/programs/${programId}/tracks`), "name", name);
}

export async function findRound(rest: RestClient, trackName: string, name: string): Promise<Round> {
  const { programId, trackId } = await findTrack(rest, trackName);
  const rounds = await rest.get<Round[]>(`/programs/${programId}/rounds`);
  return pickNamed(
    rounds.filter((round) => round.trackId === trackId),
    "name",
    name,
  );
}

/** Returns the submissions of the current programme, filtered by further parameters of the list. */
export async function listSubmissions(rest: RestClient, filter: Record<string, string> = {}): Promise<Submission[]> {
  const { programId } = await findProgram(rest);
  return rest.list<Submission>(`/submissions?${new URLSearchParams({ programId, ...filter })}`);
}

/** Returns the first submission by title among those that fit. The demonstration data must have one. */
export async function chooseSubmission(
  rest: RestClient,
  filter: Record<string, string>,
  fits: (submission: Submission) => boolean | Promise<boolean> = () => true,
): Promise<Submission & { readonly title: string }> {
  const submissions = await listSubmissions(rest, filter);
  for (const submission of submissions.toSorted((a, b) => String(a.title).localeCompare(String(b.title)))) {
    const { title } = submission;
    if (title !== null && (await fits(submission))) return { ...submission, title };
  }
  throw new Error(`The demonstration data have no submission with ${JSON.stringify(filter)} that fits`);
}

export async function findSubmission(rest: RestClient, title: string): Promise<Submission> {
  return pickNamed(await listSubmissions(rest), "title", title);
}

export async function listAssignments(rest: RestClient, filter: Record<string, string>): Promise<Assignment[]> {
  return rest.list<Assignment>(`/assignments?${new URLSearchParams(filter)}`);
}

export async function listReviewers(rest: RestClient, filter: Record<string, string> = {}): Promise<Reviewer[]> {
  return rest.list<Reviewer>(`/reviewers?${new URLSearchParams(filter)}`);
}

export function formatReviewer({ firstName, lastName }: Reviewer): string {
  return `${firstName} ${lastName}`;
}

/** Returns the ids of a programme's feedback that is written but not released. */
export async function listUnreleased(rest: RestClient, programId: string): Promise<string[]> {
  const entries = await rest.list<AuditEntry>(`/audit?programId=${programId}&entityType=feedback`);
  const listIds = (action: string) =>
    new Set(entries.filter((entry) => entry.action === action).map(({ entityId }) => String(entityId)));
  return [...listIds("feedback.prepared").difference(listIds("feedback.released"))];
}

/** Returns the value that a submission has in the field of this key. */
export async function readField(rest: RestClient, submission: Submission, key: string): Promise<unknown> {
  const { schemaId, schemaVersion, fields } = submission;
  const form = await rest.get<{ fields: { fieldId: string; key: string }[] }>(
    `/schemas/${schemaId}?version=${schemaVersion}`,
  );
  return fields[pickNamed(form.fields, "key", key).fieldId];
}

/** Returns the active reviewers of a round who know a submission's domain and were never given it. */
export async function listFittingReviewers(
  rest: RestClient,
  roundId: string,
  submission: Submission,
): Promise<Reviewer[]> {
  const domain = String(await readField(rest, submission, "domain"));
  const { submissionId } = submission;
  const given = await listAssignments(rest, { submissionId, includeInactive: "true" });
  const known = new Set(given.map(({ reviewerId }) => reviewerId));
  const active = await listReviewers(rest, { roundId, status: "active" });
  return active.filter(({ reviewerId, expertise }) => expertise.includes(domain) && !known.has(reviewerId));
}
