import type { Row } from "../../src/store/tables.ts";
import { fieldIds, personFieldIds } from "../support/data/seed-factory.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { createModelSubmission } from "./submissions.ts";
import type { ModelTenant } from "./tenant.ts";

/** Two tenants with four tokens each, and the processes that serve them. */
export interface Scenario {
  readonly servers: readonly TestServer[];
  readonly tokens: readonly (readonly string[])[];
  readonly origins: readonly string[];
  readonly tenants: ModelTenant[];
}

/** Creates two tenants, one of which screens submissions. */
export async function createScenario(server: TestServer, origins: readonly string[]): Promise<Scenario> {
  const servers = [await server.other(), await server.other()];
  const tenants = await Promise.all(servers.map((each, index) => createTenant(each, index === 0)));
  const reads = [
    "submissions:read",
    "supplements:read",
    "assignments:read",
    "programs:read",
    "tracks:read",
    "rounds:read",
    "persons:read",
    "exports:read",
  ] as const;
  const tokens = servers.map(async (each) => [
    await each.token(),
    await each.token([
      ...reads,
      "submissions:write",
      "supplements:write",
      "assignments:write",
      "programs:write",
      "tracks:write",
      "rounds:write",
      "feedback:write",
      "persons:write",
      "exports:write",
    ]),
    await each.token([...reads, "feedback:read"]),
    await each.token(),
  ]);
  return { servers, tenants, origins, tokens: await Promise.all(tokens) };
}

async function createTenant({ seed }: TestServer, screeningRequired: boolean): Promise<ModelTenant> {
  const { programId } = await seed.program({ screeningRequired });
  const track = await seed.track({ programId });
  const { rubricId } = await seed.rubric();
  const rounds = await Promise.all(
    [1, 2, 3].map((sequence) => seed.round({ ...track, rubricId, sequence, active: sequence < 3 })),
  );
  await seed.personSchema();
  const openFields = { [personFieldIds.standard]: "weaving" };
  const allFields = { ...openFields, [personFieldIds.restricted]: "asthma" };
  const { personId } = await seed.person({ customFields: allFields });
  const reviewers = [await seed.reviewer({ personId }), await seed.reviewer(), await seed.reviewer()];
  const { reviewerId: inactiveReviewerId } = await seed.reviewer({ status: "inactive" });
  const title = "A roof";
  const fields = { [fieldIds.title]: title };
  const submission = await seed.submission({ ...track, title, fields, deadline: "2090-01-01T00:00:00.000Z" });
  const { schemaId } = track;
  const supplement = await seed.supplement({ submissionId: submission.submissionId, schemaId, required: false });
  const { reviewed, review, attestation } = await createReviewed(seed, track, rounds[0]?.roundId ?? "", reviewers);
  const feedbacks = [1, 2, 3].map((each) =>
    seed.feedback({ programId, submissionId: submission.submissionId, body: `Answer ${each}` }),
  );
  return {
    fixed: {
      programId,
      supplementResponseId: supplement.supplementResponseId,
      trackId: track.trackId,
      personId,
      openFields,
      allFields,
      titleFieldId: fieldIds.title,
      screeningRequired,
      roundIds: rounds.map(({ roundId }) => roundId),
      reviewerIds: reviewers.map(({ reviewerId }) => reviewerId),
      inactiveReviewerId,
      people: {
        reviewers: reviewers.map(({ reviewerId, firstName, lastName, email }) => {
          return { reviewerId, name: `${firstName} ${lastName}`, email };
        }),
        person: { personId, reviewerId: reviewers[0]?.reviewerId ?? "" },
        review,
        attestation,
      },
    },
    program: { version: 0, lifecycleStatus: "underway" },
    track: { version: 0, intakeOpen: true },
    rounds: rounds.map(({ roundId, active }) => ({ roundId, active, version: 0 })),
    feedbacks: (await Promise.all(feedbacks)).map(({ feedbackId, body, released }) => {
      return { feedbackId, body, released, version: 0 };
    }),
    supplement: { version: 0, status: supplement.status },
    submissions: [createModelSubmission(submission.submissionId, title, toUnlistedApplicant(submission)), reviewed],
    persons: [],
    exports: [],
    cursors: [],
    answers: new Map(),
    events: [],
    changes: [],
  };
}

/** Creates a submission in review, with an assignment that the first reviewer has and has written a review for. */
async function createReviewed(
  seed: TestServer["seed"],
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
  const { reviewerId = "" } = reviewers[0] ?? {};
  const home = { programId, trackId, roundId, submissionId, reviewerId };
  const declared = { hasConflict: false, statement: "I know nobody there" };
  const conflictAttestation = { ...declared, attestedAt: "2026-11-02T09:00:00.000Z" };
  const { assignmentId } = await seed.assignment({ ...home, conflictAttestation });
  const { reviewId } = await seed.review({ programId, roundId, submissionId, reviewerId, assignmentId });
  const origin = { source: "manual", reassignedFromId: null };
  const assignment = { assignmentId, submissionId, reviewerId, roundId, ...origin, version: 0, active: true };
  const draft = createModelSubmission(submissionId, title, toUnlistedApplicant(submission));
  return {
    reviewed: { ...draft, state, currentRoundId: roundId, assignments: [assignment] },
    review: { reviewId, submissionId, reviewerId },
    attestation: { assignmentId, submissionId, reviewerId, ...declared },
  };
}

/** The applicants of submissions that exist from the start have no record. */
function toUnlistedApplicant({ innovatorEmail }: Row<"submissions">) {
  return { innovatorEmail, applicantName: null };
}
