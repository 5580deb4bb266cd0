import type { Row } from "../../../src/store/tables.ts";
import { fieldIds } from "../../support/data/seed-factory.ts";
import type { TestServer } from "../../support/servers/test-server.ts";
import { createModelSubmission } from "../submissions.ts";
import type { ModelAssignment, ModelReviewer, ModelSubmission } from "../tenant.ts";

type Seed = TestServer["seed"];

/** Creates two reviewers of a programme's rounds, one whom nobody has invited, and two inactive ones. */
export async function createReviewers(seed: Seed, personId: string, rounds: readonly Row<"rounds">[]) {
  const programIds = [...new Set(rounds.map(({ programId }) => programId))];
  const invited = { programIds, roundIds: rounds.map(({ roundId }) => roundId) };
  return [
    await seed.reviewer({ personId, expertise: ["Arts"], ...invited }),
    await seed.reviewer({ expertise: ["science"], ...invited }),
    await seed.reviewer(),
    await seed.reviewer({ status: "inactive", ...invited }),
    await seed.reviewer({ status: "inactive", ...invited }),
  ];
}

/** Creates a submission of each domain, in review without reviewers. */
export async function createUnassigned(
  seed: Seed,
  track: Row<"tracks">,
  currentRoundId: string,
): Promise<ModelSubmission[]> {
  const state = "IN_REVIEW";
  const [title, deadline] = ["A tower", "2090-01-01T00:00:00.000Z"];
  const created = ["arts", "science"].map(async (domain) => {
    const fields = { [fieldIds.title]: title, [fieldIds.domain]: domain };
    const row = await seed.submission({ trackId: track.trackId, state, currentRoundId, title, fields, deadline });
    const draft = createModelSubmission(row.submissionId, title, { ...toUnlistedApplicant(row), domain });
    return { ...draft, state, currentRoundId };
  });
  return Promise.all(created);
}

export function toModelReviewer(reviewer: Row<"reviewers">): ModelReviewer {
  const { reviewerId, email, firstName, lastName, role, status, expertise, invitedAt, version } = reviewer;
  const { programIds, roundIds } = reviewer;
  const names = { reviewerId, email, firstName, lastName };
  return { ...names, role, status, expertise, programIds, roundIds, invitedAt, version };
}

/**
 * Creates a submission in review, with an assignment that the first reviewer has and has written a review for, and a
 * removed one of the second reviewer, who declared a conflict of interest.
 */
export async function createReviewed(
  seed: Seed,
  track: Row<"tracks">,
  roundId: string,
  reviewers: readonly Row<"reviewers">[],
) {
  const state = "IN_REVIEW";
  const [title, deadline] = ["A bridge", "2090-01-01T00:00:00.000Z"];
  const given = { trackId: track.trackId, title, fields: { [fieldIds.title]: title }, deadline };
  const submission = await seed.submission({ ...given, state, currentRoundId: roundId });
  const { submissionId } = submission;
  const { programId, trackId } = track;
  const [reviewerId = "", hinderedId = ""] = reviewers.map((each) => each.reviewerId);
  const home = { programId, trackId, roundId, submissionId };
  const attest = (hasConflict: boolean) => {
    return { hasConflict, statement: "I know them", attestedAt: "2026-11-02T09:00:00.000Z" };
  };
  const assignments = [
    await seed.assignment({ ...home, reviewerId, conflictAttestation: attest(false) }),
    await seed.assignment({
      ...home,
      reviewerId: hinderedId,
      conflictAttestation: attest(true),
      status: "cancelled",
      active: false,
    }),
  ];
  const { assignmentId = "" } = assignments[0] ?? {};
  const review = await seed.review({ programId, roundId, submissionId, reviewerId, assignmentId });
  const draft = createModelSubmission(submissionId, title, toUnlistedApplicant(submission));
  return {
    reviewed: { ...draft, state, currentRoundId: roundId, assignments: assignments.map(toModelAssignment) },
    review,
    attestations: assignments.map(({ assignmentId, reviewerId, conflictAttestation }) => {
      const { hasConflict = false, statement = "" } = conflictAttestation ?? {};
      return { assignmentId, submissionId, reviewerId, hasConflict, statement };
    }),
  };
}

export function toModelAssignment(assignment: Row<"assignments">): ModelAssignment {
  const { assignmentId, submissionId, reviewerId, roundId, source, reassignedFromId, status, version, active } =
    assignment;
  return { assignmentId, submissionId, reviewerId, roundId, source, reassignedFromId, status, version, active };
}

/** The applicants of submissions that exist from the start have no record. */
export function toUnlistedApplicant({ innovatorEmail }: Row<"submissions">) {
  return { innovatorEmail, applicantName: null, domain: null };
}
