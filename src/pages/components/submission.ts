import { html } from "hono/html";
import type { SubmissionBrief } from "../../contract/workflows/submission-brief.ts";
import { formatCode, formatMinute, formatScore } from "./format.ts";
import { createTimeColumn, type RecordTable, renderRecords } from "./table.ts";
import { renderValue } from "./value.ts";

export type SubmissionFile = Row<"files">;
type RenderFile = (file: SubmissionFile) => unknown;

/**
 * Renders everything about a submission but its history. All its texts are what people wrote: they are escaped as any
 * other.
 * @param renderFile - renders the name of a file where it can be downloaded
 */
export function renderSubmission(brief: SubmissionBrief, renderFile?: RenderFile) {
  const { answers, files, assignments, reviews, supplements, releasedFeedback, missing } = brief;
  const fileNames = new Map<unknown, string>(files?.map(({ fileId, fileName }) => [fileId, fileName]));
  return html`${renderFacts(brief)}
      ${
        missing.length > 0
          ? html`<h2>What the next step needs</h2>
              <ul>
                ${missing.map((text) => html`<li>${text}</li>`)}
              </ul>`
          : ""
      }
      <h2>Answers</h2>
      ${
        answers.length === 0
          ? html`<p>There are no answers yet.</p>`
          : html`<dl>
              ${answers.map(
                ({ fieldId, label, value }) =>
                  html`<dt>${label ?? fieldId}</dt>
                    <dd class="answer">${renderValue(nameFiles(value, fileNames))}</dd>`,
              )}
            </dl>`
      }
      ${files ? html`<h2>Files</h2>${renderRecords(createFileTable(files, renderFile))}` : ""}
      ${supplements?.length ? html`<h2>Supplements</h2>${renderRecords(createSupplementTable(supplements))}` : ""}
      ${assignments ? html`<h2>Assignments</h2>${renderRecords(createAssignmentTable(assignments))}` : ""}
      ${reviews ? html`<h2>Scores</h2>${renderRecords(createReviewTable(reviews, assignments))}` : ""}
      ${releasedFeedback ? html`<h2>Released feedback</h2>${renderRecords(createFeedbackTable(releasedFeedback))}` : ""}`;
}

function renderFacts(brief: SubmissionBrief) {
  const { state, stateReason, track, round, innovatorName, innovatorEmail, submittedAt, deadline, decidedAt } = brief;
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ["State", formatCode(state)],
    ["Reason", stateReason],
    ["Track", track],
    ["Round", round],
    ["Applicant", innovatorName],
    // Left out for people who may not see it.
    ["E-mail address", innovatorEmail],
    ["Deadline", formatMinute(deadline)],
    ["Submitted", submittedAt && formatMinute(submittedAt)],
    ["Decided", decidedAt && formatMinute(decidedAt)],
    ["Payment", brief.paymentStatus && formatCode(brief.paymentStatus)],
  ];
  return html`<dl class="facts">
    ${facts.map(([name, value]) =>
      value
        ? html`<dt>${name}</dt>
            <dd>${value}</dd>`
        : "",
    )}
  </dl>`;
}

type Row<Part extends keyof SubmissionBrief> =
  NonNullable<SubmissionBrief[Part]> extends readonly (infer Each)[] ? Each : never;

function createFileTable(rows: readonly SubmissionFile[], render?: RenderFile): RecordTable<SubmissionFile> {
  return {
    caption: "Files",
    rows,
    empty: "There are no files.",
    columns: [
      {
        header: "Name",
        value: ({ fileName }) => fileName,
        ...(render ? { render } : {}),
      },
      { header: "Kind", value: ({ contentType }) => contentType },
      { header: "Bytes", value: ({ sizeBytes }) => sizeBytes },
      { header: "Scan", value: ({ scanStatus }) => formatCode(scanStatus) },
    ],
  };
}

function createSupplementTable(rows: readonly Row<"supplements">[]): RecordTable<Row<"supplements">> {
  return {
    caption: "Supplements",
    rows,
    empty: "There are no supplements.",
    columns: [
      { header: "Title", value: ({ title }) => title },
      { header: "Required", value: ({ required }) => (required ? "Yes" : "No") },
      { header: "State", value: ({ status }) => formatCode(status) },
      createTimeColumn("Due", ({ dueAt }) => dueAt),
    ],
  };
}

function createAssignmentTable(rows: readonly Row<"assignments">[]): RecordTable<Row<"assignments">> {
  return {
    caption: "Assignments",
    rows,
    empty: "Nobody is assigned.",
    columns: [
      { header: "Reviewer", value: ({ reviewer, reviewerId }) => reviewer ?? reviewerId },
      { header: "State", value: ({ status, isOverdue }) => `${formatCode(status)}${isOverdue ? ", overdue" : ""}` },
      createTimeColumn("Due", ({ dueAt }) => dueAt),
    ],
  };
}

function createReviewTable(
  rows: readonly Row<"reviews">[],
  assignments: readonly Row<"assignments">[] = [],
): RecordTable<Row<"reviews">> {
  const names = new Map(assignments.map(({ reviewerId, reviewer }) => [reviewerId, reviewer]));
  return {
    caption: "Scores",
    rows,
    empty: "There are no reviews yet.",
    columns: [
      { header: "Reviewer", value: ({ reviewerId }) => names.get(reviewerId) ?? reviewerId },
      { header: "State", value: ({ status }) => formatCode(status) },
      { header: "Weighted", value: ({ weightedScore }) => weightedScore },
      { header: "Total", value: ({ totalScore }) => totalScore },
      {
        header: "By criterion",
        value: ({ scores }) =>
          Object.entries(scores)
            .map(([label, score]) => `${label}: ${typeof score === "number" ? formatScore(score) : String(score)}`)
            .join("; "),
      },
      { header: "Recommendation", value: ({ recommendation }) => recommendation },
    ],
  };
}

function createFeedbackTable(rows: readonly Row<"releasedFeedback">[]): RecordTable<Row<"releasedFeedback">> {
  return {
    caption: "Released feedback",
    rows,
    empty: "No feedback has been released.",
    columns: [
      { header: "Subject", value: ({ subject, feedbackId }) => subject ?? feedbackId },
      createTimeColumn("Released", ({ releasedAt }) => releasedAt),
    ],
  };
}

/** Returns the names of an answer's files in place of their ids. */
function nameFiles(value: unknown, fileNames: ReadonlyMap<unknown, string>): unknown {
  return Array.isArray(value) ? value.map((each) => fileNames.get(each) ?? each) : (fileNames.get(value) ?? value);
}
