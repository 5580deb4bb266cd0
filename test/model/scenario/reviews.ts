import type { Row } from "../../../src/store/tables.ts";
import { createFactory, field, fieldIds, personFieldIds } from "../../support/data/seed-factory.ts";
import type { TestServer } from "../../support/servers/test-server.ts";
import { createModelSubmission } from "../submissions.ts";
import type { ModelAssignment, ModelSubmission } from "../tenant.ts";
import { toModelAssignment, toUnlistedApplicant } from "./reviewed-records.ts";

interface PanelRecords {
  readonly submission: ModelSubmission;
  /** All of them were written in the same millisecond. */
  readonly reviews: readonly Row<"reviews">[];
  readonly attestations: readonly Readonly<Record<string, string | boolean>>[];
}

/** An assignment of a reviewer, by position, with the content of its review if there is one. */
interface PanelWork {
  readonly reviewer: number;
  readonly status: ModelAssignment["status"] & Row<"assignments">["status"];
  readonly review?: Partial<Row<"reviews">>;
}

const draft = { status: "draft", submittedAt: null, totalScore: null, weightedScore: null } as const;

/** The work in the first two rounds: every status of an assignment, and every kind of score. */
const panelWork: readonly (readonly PanelWork[])[] = [
  [
    { reviewer: 0, status: "completed", review: { recommendation: "revise", overallComment: "Ask ada@example.org" } },
    { reviewer: 3, status: "completed", review: toUnweighted(3) },
    { reviewer: 4, status: "accepted", review: { ...draft, scores: [toScore("crt_c", "fair")] } },
    { reviewer: 1, status: "cancelled", review: { ...draft, recommendation: "none" } },
  ],
  [
    { reviewer: 0, status: "assigned" },
    { reviewer: 3, status: "conflict" },
    { reviewer: 4, status: "declined" },
    { reviewer: 1, status: "completed", review: toUnscored() },
    { reviewer: 2, status: "completed", review: { weightedScore: 4.2, totalScore: 9 } },
  ],
];

/** Creates a finalist whom several reviewers reviewed in two rounds. */
export async function createPanel(
  { seed, write }: TestServer,
  { programId, trackId }: Row<"tracks">,
  roundIds: readonly string[],
  reviewers: readonly Row<"reviewers">[],
): Promise<PanelRecords> {
  const [state, title, deadline] = ["FINALIST", "A well", "2090-01-01T00:00:00.000Z"] as const;
  const currentRoundId = roundIds[1] ?? null;
  const fields = { [fieldIds.title]: title };
  const submission = await seed.submission({ trackId, title, fields, deadline, state, currentRoundId });
  const { submissionId } = submission;
  const assignments: Row<"assignments">[] = [];
  const reviews: Row<"reviews">[] = [];
  await write(async (transaction) => {
    const atOnce = createFactory((work) => work(transaction));
    for (const [index, works] of panelWork.entries()) {
      for (const { reviewer, status, review } of works) {
        const { reviewerId = "" } = reviewers[reviewer] ?? {};
        const home = { programId, roundId: roundIds[index] ?? "", submissionId, reviewerId };
        const active = status !== "cancelled";
        const conflictAttestation = status === "conflict" ? attestConflict() : null;
        const assignment = await atOnce.assignment({ ...home, trackId, status, active, conflictAttestation });
        assignments.push(assignment);
        const { assignmentId } = assignment;
        if (review) reviews.push(await atOnce.review({ ...home, assignmentId, ...review }));
      }
    }
  });
  const given = createModelSubmission(submissionId, title, toUnlistedApplicant(submission));
  return {
    submission: { ...given, state, currentRoundId, assignments: assignments.map(toModelAssignment) },
    reviews,
    attestations: assignments.flatMap(({ assignmentId, reviewerId, conflictAttestation }) => {
      if (!conflictAttestation) return [];
      const { hasConflict, statement } = conflictAttestation;
      return { assignmentId, submissionId, reviewerId, hasConflict, statement };
    }),
  };
}

/** Sorts reviews as lists do: by the time of their creation, then by id, both descending. */
export function sortNewest(reviews: readonly Row<"reviews">[]): readonly Row<"reviews">[] {
  const toKey = ({ createdAt, reviewId }: Row<"reviews">) => `${createdAt} ${reviewId}`;
  return reviews.toSorted((one, other) => (toKey(one) < toKey(other) ? 1 : -1));
}

function attestConflict() {
  return { hasConflict: true, statement: "We share a house", attestedAt: "2026-11-03T09:00:00.000Z" };
}

function toScore(criterionId: string, value: number | string | boolean) {
  return { criterionId, value, comment: null };
}

/** The review by a rubric that adds points up. */
function toUnweighted(totalScore: number) {
  const scores = [toScore("crt_b", totalScore), toScore("crt_c", "poor"), toScore("crt_d", false)];
  return { scores, totalScore, weightedScore: null, overallComment: null, confidentialComment: null };
}

/** A submitted review without numbers. */
function toUnscored() {
  return { scores: [toScore("crt_c", "good"), toScore("crt_d", true)], totalScore: null, weightedScore: null };
}

/**
 * Creates versions of the schema of persons: an archived one, the active one, and a later one that is not published.
 * @returns the active one, as callers see it
 */
export async function createPersonSchemas(seed: TestServer["seed"]): Promise<Readonly<Record<string, unknown>>> {
  // The other versions declare the field that is restricted in the active one as standard.
  const fields = [field(personFieldIds.restricted, "health", "text", {})] as Row<"personSchemas">["fields"];
  await seed.personSchema({ schemaVersion: 4, active: false, fields });
  await seed.personSchema({ schemaVersion: 3, published: false, publishedAt: null, fields });
  const { personSchemaId: _, ...shown } = await seed.personSchema({ schemaVersion: 2, sourceSchemaVersion: 1 });
  await seed.personSchema({ schemaVersion: 1, active: false, fields });
  return shown;
}
