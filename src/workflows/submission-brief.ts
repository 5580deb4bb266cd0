import type { Submission } from "../contract/submissions.ts";
import type { SubmissionBrief } from "../contract/workflows/submission-brief.ts";
import { listSubmissionSteps } from "../domain/submissions.ts";
import { createLabels } from "../domain/workflows/score-table.ts";
import { listMissingForNextStep } from "../domain/workflows/submission-brief.ts";
import type { RecordSource, WorkflowRunner } from "../upstream/port.ts";
import { loadRows } from "./collections.ts";
import { loadReviewerNames } from "./reviewer-names.ts";
import { listRounds } from "./rounds.ts";

export const get_submission_brief: WorkflowRunner<"get_submission_brief"> = async (source, { submissionId }) => {
  const submission = await source.get("get_submission", { submissionId });
  const { programId, trackId, schemaId, schemaVersion: version, currentRoundId } = submission;
  const permitted = source.ifPermitted.bind(source);
  const program = await permitted("the programme", () => source.get("get_program", { programId }));
  const rounds = await permitted("names of rounds", () => listRounds(source, { programId, trackId }));
  const schema = await permitted("labels of answers", () => source.get("get_schema", { schemaId, version }));
  const files = await permitted("files", () =>
    loadRows(source.list("list_submission_files", { submissionId }, fileFields)),
  );
  const supplements = await permitted("supplements", () =>
    loadRows(source.list("list_submission_supplements", { submissionId }, supplementFields)),
  );
  const assignments = await permitted("assignments", () => loadAssignments(source, submission));
  const reviews = await permitted("reviews", () => loadReviews(source, submissionId));
  const releasedFeedback = await permitted("feedback", () =>
    loadRows(source.list("list_released_feedback", { submissionId }, feedbackFields)),
  );
  const history = await permitted("the history of the state", () => loadHistory(source, submission));
  const known = {
    fields: schema?.fields,
    supplements,
    screeningRequired: program?.screeningRequired,
    requiredReviews: program?.assignmentRules.reviewsPerSubmission,
    assignments: assignments?.filter(({ roundId }) => roundId === currentRoundId),
    hasReleasedFeedback: releasedFeedback && releasedFeedback.length > 0,
  };
  const steps = listSubmissionSteps(submission.state, { screeningRequired: program?.screeningRequired ?? true });
  const parts = { files, supplements, assignments, reviews, releasedFeedback, history };
  return {
    ...toHead(submission),
    program: program?.name ?? null,
    track: rounds?.[0]?.track ?? null,
    round: rounds?.find(({ roundId }) => roundId === currentRoundId)?.name ?? null,
    answers: listAnswers(submission.fields, schema?.fields),
    ...Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)),
    missing: listMissingForNextStep(submission, known, Date.parse(source.now)),
    next: steps.map(({ tool, to, needs }) => ({ tool, to, needs })),
  };
};

const fileFields = ["fileId", "fileName", "contentType", "sizeBytes", "scanStatus"] as const;
const supplementFields = ["supplementResponseId", "title", "required", "status", "dueAt"] as const;
const feedbackFields = ["feedbackId", "roundId", "subject", "releasedAt"] as const;

function toHead(submission: Submission) {
  const { submissionId, version, title, state, stateReason, innovatorName, innovatorEmail } = submission;
  const { applicantPersonId, deadline, submittedAt, decidedAt, paymentStatus } = submission;
  const { programId, trackId, currentRoundId } = submission;
  return {
    ...{ submissionId, version, title, state, stateReason, innovatorName, innovatorEmail, applicantPersonId },
    ...{ deadline, submittedAt, decidedAt, paymentStatus, programId, trackId, currentRoundId },
  };
}

/** Lists the answers in the form's order, then those to fields that the form does not have. */
function listAnswers(
  values: Submission["fields"],
  fields: readonly { readonly fieldId: string; readonly label: string; readonly order: number }[] = [],
): SubmissionBrief["answers"] {
  const sorted = fields.toSorted((a, b) => a.order - b.order).filter(({ fieldId }) => Object.hasOwn(values, fieldId));
  const known = new Set(sorted.map(({ fieldId }) => fieldId));
  const others = Object.keys(values).filter((fieldId) => !known.has(fieldId));
  return [...sorted, ...others.map((fieldId) => ({ fieldId, label: null }))].map(({ fieldId, label }) => ({
    fieldId,
    label,
    value: values[fieldId],
  }));
}

async function loadAssignments(source: RecordSource, { submissionId, programId }: Submission) {
  const fields = ["assignmentId", "roundId", "reviewerId", "status", "dueAt"] as const;
  const assignments = await loadRows(source.list("list_assignments", { submissionId }, fields));
  const names = await loadReviewerNames(source, programId, new Set(assignments.map(({ reviewerId }) => reviewerId)));
  const nowMs = Date.parse(source.now);
  return assignments.map((assignment) => {
    const { reviewerId, status, dueAt } = assignment;
    const isExpected = status === "assigned" || status === "accepted";
    const isOverdue = isExpected && dueAt !== null && Date.parse(dueAt) < nowMs;
    return { ...assignment, reviewer: names.get(reviewerId) ?? null, isOverdue };
  });
}

async function loadReviews(source: RecordSource, submissionId: string): Promise<SubmissionBrief["reviews"]> {
  const scoreFields = ["recommendation", "weightedScore", "totalScore", "scores"] as const;
  const fields = ["reviewId", "roundId", "reviewerId", "status", "rubricId", "rubricVersion", ...scoreFields] as const;
  const reviews = await loadRows(source.list("list_reviews", { submissionId }, fields));
  const labels = new Map<string, ReadonlyMap<string, string>>();
  for (const { rubricId, rubricVersion: version } of reviews) {
    const key = `${rubricId} ${version}`;
    if (labels.has(key)) continue;
    const rubric = await source.ifPermitted("labels of criteria", () =>
      source.get("get_rubric", { rubricId, version }),
    );
    labels.set(key, createLabels(rubric?.criteria ?? []));
  }
  return reviews.map(({ rubricId, rubricVersion, scores, ...review }) => {
    const names = labels.get(`${rubricId} ${rubricVersion}`);
    const entries = scores.map(({ criterionId, value }) => [names?.get(criterionId) ?? criterionId, value] as const);
    return { ...review, scores: Object.fromEntries(entries) };
  });
}

/** The audit names applicants by their account: the brief shows the name that the submission has. */
async function loadHistory(source: RecordSource, { submissionId, innovatorName }: Submission) {
  const fields = [
    "action",
    "entityType",
    "actorType",
    "actorId",
    "actorName",
    "changes",
    "reason",
    "occurredAt",
  ] as const;
  const history: NonNullable<SubmissionBrief["history"]> = [];
  for await (const entries of source.list("list_audit_entries", { submissionId, entityType: "submission" }, fields)) {
    for (const { action, actorType, actorId, actorName, changes, reason, occurredAt } of entries) {
      const change = changes.find(({ path }) => path === "state");
      if (!change) continue;
      const by = actorName ?? (actorType === "applicant" ? innovatorName : actorId);
      history.push({ at: occurredAt, action, from: change.from ?? null, to: change.to ?? null, by, reason });
    }
  }
  return history.reverse();
}
