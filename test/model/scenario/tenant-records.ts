import { createId } from "../../../src/lib/ids.ts";
import { fieldIds, personFieldIds } from "../../support/data/seed-factory.ts";
import type { TestServer } from "../../support/servers/test-server.ts";
import { createModelSubmission } from "../submissions.ts";
import type { ModelTenant } from "../tenant.ts";
import { createAttachments, createFormVersions } from "./attachments.ts";
import {
  createReviewed,
  createReviewers,
  createUnassigned,
  toModelReviewer,
  toUnlistedApplicant,
} from "./reviewed-records.ts";
import { createPanel, createPersonSchemas, sortNewest } from "./reviews.ts";

/** Creates a tenant with a programme, and the model of its records. */
export async function createTenant(
  server: TestServer,
  screeningRequired: boolean,
  tokens: ModelTenant["fixed"]["tokens"],
): Promise<ModelTenant> {
  const { seed, businessId } = server;
  const maxPerReviewer = screeningRequired ? 2 : null;
  const { programId, name: programName } = await seed.program({
    screeningRequired,
    assignmentRules: {
      reviewsPerSubmission: 2,
      useExpertiseMatching: false,
      domainFieldId: null,
      excludePriorRoundReviewers: false,
      maxPerReviewer,
    },
  });
  const track = await seed.track({ programId });
  const { rubricId } = await seed.rubric();
  const rounds = await Promise.all(
    [1, 2, 3].map((sequence) => seed.round({ ...track, rubricId, sequence, active: sequence < 3 })),
  );
  const { programId: otherProgramId, roundId: otherRoundId } = await seed.round({ rubricId });
  const personSchema = await createPersonSchemas(seed);
  const openFields = { [personFieldIds.standard]: "weaving" };
  const allFields = { ...openFields, [personFieldIds.restricted]: "asthma" };
  const personEmail = "Person4@example.org";
  const { personId } = await seed.person({ primaryEmail: personEmail, customFields: allFields });
  const reviewers = await createReviewers(seed, personId, rounds);
  const suppressedEmails = ["guest0@example.org", "person1@example.org", reviewers[1]?.email ?? ""];
  for (const email of suppressedEmails)
    await seed.insert("suppressions", { suppressionId: createId("spr"), email, reason: "manual" });
  const title = "A roof";
  const fields = { [fieldIds.title]: title };
  const submission = await seed.submission({ ...track, title, fields, deadline: "2090-01-01T00:00:00.000Z" });
  const { schemaId } = track;
  const supplement = await seed.supplement({ submissionId: submission.submissionId, schemaId, required: false });
  const { reviewed, review, attestations } = await createReviewed(seed, track, rounds[0]?.roundId ?? "", reviewers);
  const unassigned = await createUnassigned(seed, track, rounds[0]?.roundId ?? "");
  const roundIds = rounds.map(({ roundId }) => roundId);
  const panel = await createPanel(server, track, roundIds, reviewers);
  const owners = [submission.submissionId, reviewed.submissionId, ...unassigned.map((each) => each.submissionId)];
  const feedbacks = [1, 2, 3].map((each) =>
    seed.feedback({ programId, submissionId: submission.submissionId, body: `Answer ${each}` }),
  );
  return {
    fixed: {
      businessId,
      tokens,
      programId,
      programName,
      supplementResponseId: supplement.supplementResponseId,
      trackId: track.trackId,
      personId,
      personEmail,
      openFields,
      allFields,
      titleFieldId: fieldIds.title,
      screeningRequired,
      roundIds,
      other: { programId: otherProgramId, roundId: otherRoundId },
      domainFieldId: fieldIds.domain,
      maxPerReviewer,
      ...(await createAttachments(seed, track, owners, supplement.supplementResponseId)),
      ...(await createFormVersions(seed, track.schemaId, rubricId)),
      suppressedEmails,
      reviews: sortNewest([review, ...panel.reviews]),
      personSchema,
      people: {
        person: { personId, reviewerId: reviewers[0]?.reviewerId ?? "" },
        attestations: [...attestations, ...panel.attestations],
      },
    },
    program: { version: 0, lifecycleStatus: "underway" },
    track: { version: 0, intakeOpen: true },
    rounds: rounds.map(({ roundId, active }) => ({ roundId, active, version: 0 })),
    feedbacks: (await Promise.all(feedbacks)).map(({ feedbackId, body, released }) => {
      return { feedbackId, body, released, version: 0 };
    }),
    supplement: { version: 0, status: supplement.status },
    submissions: [
      createModelSubmission(submission.submissionId, title, toUnlistedApplicant(submission)),
      reviewed,
      ...unassigned,
      panel.submission,
    ],
    applicants: [],
    reviewers: reviewers.map(toModelReviewer),
    invitations: [],
    emailSends: [],
    persons: [],
    exports: [],
    cursors: [],
    answers: new Map(),
    events: [],
    changes: [],
    auditEntries: [],
  };
}
