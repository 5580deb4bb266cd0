import { html } from "hono/html";
import type { User } from "../../contract/access/roles.ts";
import type { Result } from "../../contract/index.ts";
import type { SubmissionBrief } from "../../contract/workflows/submission-brief.ts";
import { formatCode, formatMinute, formatScore } from "../components/format.ts";
import { renderGaps } from "../components/gaps.ts";
import { createTimeColumn, formatAddress, type RecordTable, renderRecords } from "../components/table.ts";
import { renderPage } from "../layout.ts";
import { programsPath, type ReadResult } from "./programs.ts";
import { renderRefusal } from "./refusal.ts";

type History = Result<"get_history">;

export interface SubmissionPage {
  readonly user: User;
  readonly brief: SubmissionBrief;
  readonly history: ReadResult<History>;
}

/** Renders everything about a submission. All its texts are what people wrote: they are escaped as any other. */
export function renderSubmissionPage({ user, brief, history }: SubmissionPage) {
  const { programId, program, answers, files, assignments, reviews, supplements, releasedFeedback, missing } = brief;
  return renderPage(
    brief.title || "Submission without a title",
    html`<p><a href="${programsPath}/${programId}/submissions">${program ?? "Programme"}: submissions</a></p>
      ${renderFacts(brief)}
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
                    <dd class="answer">${renderValue(value)}</dd>`,
              )}
            </dl>`
      }
      ${files ? html`<h2>Files</h2>${renderRecords(createFileTable(files))}` : ""}
      ${supplements?.length ? html`<h2>Supplements</h2>${renderRecords(createSupplementTable(supplements))}` : ""}
      ${assignments ? html`<h2>Assignments</h2>${renderRecords(createAssignmentTable(assignments))}` : ""}
      ${reviews ? html`<h2>Scores</h2>${renderRecords(createReviewTable(reviews, assignments))}` : ""}
      ${releasedFeedback ? html`<h2>Released feedback</h2>${renderRecords(createFeedbackTable(releasedFeedback))}` : ""}
      <h2 id="history">History</h2>
      ${history.ok ? renderHistory(brief.submissionId, history.data) : renderRefusal(history.problem)}${renderGaps(brief)}`,
    { user, section: programsPath },
  );
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

/** Renders an answer or a changed value. */
function renderValue(value: unknown): unknown {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (typeof value === "string" || typeof value === "number") return value;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.join(", ");
  return html`<code>${JSON.stringify(value)}</code>`;
}

type Row<Part extends keyof SubmissionBrief> =
  NonNullable<SubmissionBrief[Part]> extends readonly (infer Each)[] ? Each : never;

function createFileTable(rows: readonly Row<"files">[]): RecordTable<Row<"files">> {
  return {
    caption: "Files",
    rows,
    empty: "There are no files.",
    columns: [
      {
        header: "Name",
        value: ({ fileName }) => fileName,
        render: ({ fileId, fileName, scanStatus }) =>
          scanStatus === "clean" ? html`<a href="/files/${fileId}/download">${fileName}</a>` : fileName,
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

function renderHistory(submissionId: string, { changes, olderAt }: History) {
  const table: RecordTable<History["changes"][number]> = {
    caption: "Changes, the newest first",
    rows: changes,
    empty: "Nothing has changed.",
    columns: [
      createTimeColumn("Time", ({ occurredAt }) => occurredAt),
      { header: "Who", value: ({ actorName, actorType }) => actorName ?? formatCode(actorType) },
      { header: "What", value: ({ action }) => formatCode(action) },
      {
        header: "Fields",
        value: ({ fields }) => fields.map(({ path }) => path).join(", "),
        render: ({ fields }) => renderChanges(fields),
      },
      { header: "Reason", value: ({ reason }) => reason },
    ],
  };
  const older = olderAt === null ? undefined : formatAddress(`/submissions/${submissionId}`, { to: olderAt });
  return html`${renderRecords(table)}${older ? html`<p><a href="${older}#history">Older changes</a></p>` : ""}`;
}

/** Changes with more fields are shown when they are opened. */
const maxOpenFields = 3;

/** Renders changed fields. Personal ones have no values. */
function renderChanges(fields: History["changes"][number]["fields"]) {
  if (fields.length === 0) return "–";
  const list = html`<ul class="changes">
    ${fields.map(
      ({ path, from, to }) =>
        html`<li>
          ${path}${from === undefined && to === undefined ? "" : html`: ${renderValue(from)} → ${renderValue(to)}`}
        </li>`,
    )}
  </ul>`;
  if (fields.length <= maxOpenFields) return list;
  return html`<details>
    <summary>${fields.length} fields</summary>
    ${list}
  </details>`;
}
