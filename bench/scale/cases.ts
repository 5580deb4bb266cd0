import type { CallName, Input } from "../../src/contract/index.ts";
import type { Random } from "../../src/lib/crypto/random.ts";
import { createId } from "../../src/lib/ids.ts";
import { fieldId, type Landmarks } from "./tenant.ts";

/** The cost of a page or a single record must not depend on the size. The cost of a write or a scan is only reported. */
export type Kind = "page" | "read" | "write" | "scan";

/** The request of a case. */
export type Request = {
  readonly [Name in CallName]: readonly [operation: Name, input: Readonly<Record<string, unknown>>];
}[CallName];

/** Records from all years of a tenant, from which cases pick. */
export interface Samples extends Landmarks {
  readonly submissions: readonly Submission[];
  readonly persons: readonly Readonly<Record<string, unknown>>[];
  readonly reviewIds: readonly string[];
  readonly auditIds: readonly string[];
  readonly fileIds: readonly string[];
  /** Cursors at the middle of lists, by their case. */
  readonly middles: Readonly<Record<string, string>>;
}

type Submission = Readonly<
  Record<"submissionId" | "programId" | "trackId" | "applicantId" | "innovatorEmail" | "createdAt", string>
> & { readonly currentRoundId: string | null };

export interface Case {
  /** The operation, and a remark about the request. */
  readonly label: string;
  readonly kind: Kind;
  /** The reason why a scan costs more with more rows. */
  readonly reason?: string;
  readonly request: (samples: Samples, random: Random) => Request;
}

function page<Name extends CallName>(
  name: string,
  operation: Name,
  input: (samples: Samples, random: Random) => Input<Name> | Readonly<Record<string, unknown>> = () => ({}),
): Case {
  return {
    label: `${operation} ${name}`.trim(),
    kind: "page",
    request: (samples, random) => [operation, input(samples, random)] as unknown as Request,
  };
}

/** Creates a case whose page needs a search through an index. */
function scan<Name extends CallName>(
  name: string,
  operation: Name,
  reason: string,
  input: (samples: Samples, random: Random) => Readonly<Record<string, unknown>>,
): Case {
  return { ...page(name, operation, input), kind: "scan", reason };
}

function read<Name extends CallName>(
  operation: Name,
  input: (samples: Samples, random: Random) => Readonly<Record<string, unknown>>,
): Case {
  return { ...page("", operation, input), kind: "read" };
}

export function pick<T>(list: readonly T[], random: Random): T {
  return list[Math.floor(random() * list.length)] as T;
}

const open = ({ programs }: Samples) => programs.at(-1) as Landmarks["programs"][number];
const past = ({ programs }: Samples) => programs[1] as Landmarks["programs"][number];
const openTrack = (samples: Samples) => open(samples).tracks[0] as Track;
const pastTrack = (samples: Samples) => past(samples).tracks[0] as Track;
const roundOf = ({ roundIds: [first = ""] }: Track) => first;
type Track = Landmarks["programs"][number]["tracks"][number];

const some = (samples: Samples, random: Random) => pick(samples.submissions, random);
const somePerson = (samples: Samples, random: Random) => pick(samples.persons, random);

/** Picks a submission that has reached a round, with that round. */
function reviewed({ submissions }: Samples, random: Random) {
  const inRound = submissions.filter(({ currentRoundId }) => currentRoundId !== null);
  const { submissionId, currentRoundId } = pick(inRound, random);
  return { submissionId, roundId: currentRoundId };
}

const reviewerId = (samples: Samples, random: Random) => pick(samples.reviewerIds, random);
const middle = (name: string) => (samples: Samples) => ({ lastEvaluatedKey: samples.middles[name] });

/** Page size for rare rows, so that the page is full at every size. */
const few = 10;

const submissionPages: readonly Case[] = [
  page("newest", "list_submissions"),
  page("from the middle", "list_submissions", middle("submissions")),
  page("of a programme", "list_submissions", (samples) => ({ programId: open(samples).programId })),
  page("of a past programme", "list_submissions", (samples) => ({ programId: past(samples).programId })),
  page("of a track", "list_submissions", (samples) => ({ trackId: openTrack(samples).trackId })),
  page("of a round", "list_submissions", (samples) => ({ roundId: roundOf(pastTrack(samples)) })),
  page("in a state", "list_submissions", () => ({ state: "IN_REVIEW" })),
  page("in a rare state", "list_submissions", () => ({ state: "WINNER", limit: few })),
  page("programme and state", "list_submissions", (samples) => ({
    programId: open(samples).programId,
    state: "SUBMITTED",
  })),
  page("programme and rare state", "list_submissions", (samples) => ({
    programId: past(samples).programId,
    state: "WINNER",
    limit: few,
  })),
  page("programme and state of none", "list_submissions", (samples) => ({
    programId: open(samples).programId,
    state: "WINNER",
  })),
  page("track and state of none", "list_submissions", (samples) => ({
    trackId: openTrack(samples).trackId,
    state: "WINNER",
  })),
  page("round and state of none", "list_submissions", (samples) => ({
    roundId: roundOf(pastTrack(samples)),
    state: "IN_REVIEW",
  })),
  page("programme, other's track", "list_submissions", (samples) => ({
    programId: open(samples).programId,
    trackId: pastTrack(samples).trackId,
  })),
  page("submitted lately", "list_submissions", () => ({ submittedFrom: "2026-10-01" })),
  page("submitted long ago", "list_submissions", () => ({
    submittedFrom: "2022-03-01",
    submittedTo: "2022-03-31",
    limit: few,
  })),
  page("programme, submitted then", "list_submissions", (samples) => ({
    programId: past(samples).programId,
    submittedFrom: "2022-12-01",
    submittedTo: "2022-12-31",
    limit: few,
  })),
  page("changed since", "list_submissions", () => ({ updatedSince: "2026-06-01" })),
  page("changed since, of a programme", "list_submissions", (samples) => ({
    updatedSince: "2026-06-01",
    programId: open(samples).programId,
  })),
  page("changed since, rare state", "list_submissions", (samples) => ({
    updatedSince: "2022-01-01",
    programId: past(samples).programId,
    state: "WINNER",
    limit: few,
  })),
  page("changed since, state of none", "list_submissions", (samples) => ({
    updatedSince: "2022-01-01",
    programId: open(samples).programId,
    state: "WINNER",
  })),
];

const otherPages: readonly Case[] = [
  page("all", "list_programs"),
  page("of a programme", "list_tracks", (samples) => ({ programId: open(samples).programId })),
  page("of a programme", "list_rounds", (samples) => ({ programId: open(samples).programId })),
  page("newest", "list_persons"),
  page("from the middle", "list_persons", middle("persons")),
  page("changed after", "list_persons", () => ({ updatedAfter: "2025-01-01T00:00:00Z" })),
  page("by address", "resolve_persons", (samples, random) => ({ email: somePerson(samples, random)["primaryEmail"] })),
  page("by platform id", "resolve_persons", (samples, random) => ({
    platformUserId: somePerson(samples, random)["platformUserId"],
  })),
  page("newest", "list_applicants"),
  page("of a programme", "list_applicants", (samples) => ({ programId: past(samples).programId })),
  page("of a track", "list_applicants", (samples) => ({
    programId: past(samples).programId,
    trackId: pastTrack(samples).trackId,
  })),
  page("newest", "list_reviewers"),
  page("active, of a round", "list_reviewers", (samples) => ({
    roundId: roundOf(pastTrack(samples)),
    status: "active",
    limit: few,
  })),
  page("of a programme's round", "list_reviewers", (samples) => ({
    programId: past(samples).programId,
    roundId: roundOf(pastTrack(samples)),
    limit: few,
  })),
  page("newest", "list_assignments"),
  page("incomplete", "list_assignments", () => ({ status: "incomplete" })),
  page("of a programme", "list_assignments", (samples) => ({ programId: past(samples).programId })),
  page("of a round, incomplete", "list_assignments", (samples) => ({
    roundId: roundOf(pastTrack(samples)),
    status: "incomplete",
  })),
  page("of a past programme, incomplete", "list_assignments", (samples) => ({
    programId: past(samples).programId,
    status: "incomplete",
  })),
  page("of an open round, incomplete", "list_assignments", (samples) => ({
    roundId: roundOf(openTrack(samples)),
    status: "incomplete",
    limit: few,
  })),
  page("of a reviewer", "list_assignments", (samples, random) => ({
    reviewerId: reviewerId(samples, random),
    limit: few,
  })),
  page("of a submission", "list_assignments", (samples, random) => ({
    submissionId: some(samples, random).submissionId,
  })),
  page("of a submission, in its round", "list_assignments", (samples, random) => reviewed(samples, random)),
  page("newest", "list_reviews"),
  page("of a submission, in its round", "list_reviews", (samples, random) => reviewed(samples, random)),
  page("of a round", "list_reviews", (samples) => ({ roundId: roundOf(pastTrack(samples)) })),
  page("of a reviewer", "list_reviews", (samples, random) => ({
    reviewerId: reviewerId(samples, random),
    limit: few,
  })),
  page("of a submission", "list_reviews", (samples, random) => ({ submissionId: some(samples, random).submissionId })),
  page("pending", "list_payments", () => ({ status: "pending", limit: few })),
  page("succeeded", "list_payments", () => ({ status: "succeeded" })),
  page("newest", "list_released_feedback"),
  page("of a programme", "list_released_feedback", (samples) => ({ programId: past(samples).programId })),
  page("to an address", "list_email_sends", (samples, random) => ({
    recipientEmail: `${some(samples, random).submissionId.toLowerCase()}@example.org`,
  })),
  page("newest changes", "list_audit_entries"),
  page("from the middle", "list_audit_entries", middle("audit")),
  page("of a submission", "list_audit_entries", (samples, random) => ({
    submissionId: some(samples, random).submissionId,
  })),
  page("of a programme", "list_audit_entries", (samples) => ({ programId: past(samples).programId })),
  page("of an action", "list_audit_entries", () => ({ action: "submission.read" })),
  page("of a rare action", "list_audit_entries", () => ({ action: "submission.state_set", limit: few })),
  page("of an action, in a programme", "list_audit_entries", (samples) => ({
    action: "submission.state_set",
    programId: past(samples).programId,
    limit: 3,
  })),
  page("of a type of none", "list_audit_entries", () => ({ entityType: "rubric" })),
  page("newest", "list_events"),
  page("since", "list_events", () => ({ since: "2025-01-01" })),
  page("of a rare type", "list_events", () => ({ type: "submission.withdrawn", limit: few })),
  page("of a type of none", "list_events", () => ({ type: "payment.failed" })),
  page("of a submission", "list_events", (samples, random) => ({ submissionId: some(samples, random).submissionId })),
  page("of a submission", "list_submission_files", (samples, random) => ({
    submissionId: some(samples, random).submissionId,
  })),
  page("of a submission", "list_submission_supplements", (samples, random) => ({
    submissionId: some(samples, random).submissionId,
  })),
];

const reads: readonly Case[] = [
  read("get_submission", (samples, random) => ({ submissionId: some(samples, random).submissionId })),
  read("get_person", (samples, random) => ({ personId: somePerson(samples, random)["personId"] })),
  read("get_reviewer", (samples, random) => ({ reviewerId: reviewerId(samples, random) })),
  read("get_review", (samples, random) => ({ reviewId: pick(samples.reviewIds, random) })),
  read("get_audit_entry", (samples, random) => ({ auditId: pick(samples.auditIds, random) })),
  read("get_submission_payment", (samples, random) => ({ submissionId: some(samples, random).submissionId })),
  read("get_submission_reviews_summary", (samples, random) => ({ submissionId: some(samples, random).submissionId })),
  read("get_file_download_url", (samples, random) => ({ fileId: pick(samples.fileIds, random) })),
];

const scans: readonly Case[] = [
  scan(
    "submitted within a minute",
    "list_submissions",
    "less than a page was submitted then: those created before are looked through in an index to the oldest",
    () => ({ submittedFrom: "2024-03-01T12:00:00Z", submittedTo: "2024-03-01T12:01:00Z", limit: few }),
  ),
  scan(
    "for words that few have",
    "list_reviewers",
    "words are anywhere in a name: no index that both engines have finds them, and all reviewers are looked through",
    () => ({ search: "lind7 university", limit: few }),
  ),
];

/** Independent cases. The steps of a submission are in `journey.ts`. */
export const cases: readonly Case[] = [...submissionPages, ...otherPages, ...reads, ...scans];

export function draftOf(samples: Samples): Readonly<Record<string, unknown>> {
  return {
    trackId: openTrack(samples).trackId,
    fields: { [fieldId]: "A light roof" },
    deadline: "2099-01-01T00:00:00Z",
    innovatorEmail: `${createId("inn").toLowerCase()}@example.org`,
    innovatorName: "Ada Marsh",
  };
}
