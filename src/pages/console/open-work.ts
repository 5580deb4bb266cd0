import { html } from "hono/html";
import type { OpenWork, WorkKind } from "../../contract/workflows/open-work.ts";
import { renderGaps } from "../components/gaps.ts";
import { createTimeColumn, type RecordTable, renderRecords } from "../components/table.ts";

/** The name of each kind of work. */
export const workLabels: Readonly<Record<WorkKind, string>> = {
  unscreened: "Submissions to screen",
  not_in_round: "Submissions that no round has",
  unassigned: "Submissions that lack reviewers",
  late_review: "Late reviews",
  conflict: "Assignments with a conflict of interest",
  feedback_not_released: "Submissions that wait for feedback",
  failed_email: "E-mails that failed",
  contradicting_dates: "Dates that contradict each other",
};

type WorkRow = OpenWork["work"][number]["rows"][number];

/** Renders what needs doing in a programme, each kind to open. */
export function renderOpenWork({ work, ...gaps }: OpenWork) {
  if (work.length === 0) return html`<p>Nothing needs doing.</p>${renderGaps(gaps)}`;
  return html`${work.map(
    ({ kind, count, rows }) =>
      html`<details>
        <summary>${workLabels[kind]}: ${count}</summary>
        <div id="${kind}">${renderRecords(createWorkTable(workLabels[kind], rows))}</div>
        ${rows.length < count ? html`<p class="hint">The ${rows.length} that have waited longest are shown.</p>` : ""}
      </details>`,
  )}${renderGaps({ ...gaps, truncated: undefined })}`;
}

function createWorkTable(caption: string, rows: readonly WorkRow[]): RecordTable<WorkRow> {
  return {
    caption,
    rows,
    empty: "",
    columns: [
      {
        header: "Where",
        value: ({ title, submissionId, round, track }) => title ?? submissionId ?? round ?? track ?? null,
        render: ({ title, submissionId, round, track }) =>
          submissionId
            ? html`<a href="/submissions/${submissionId}">${title ?? submissionId}</a>`
            : (round ?? track ?? "–"),
      },
      { header: "Track", value: ({ track = null }) => track },
      { header: "Round", value: ({ round = null }) => round },
      { header: "Reviewer", value: ({ reviewer = null }) => reviewer },
      createTimeColumn("Since", ({ since = null }) => since),
      { header: "Detail", value: ({ detail = null }) => detail },
    ],
  };
}
