import { html } from "hono/html";
import type { ReviewProgress } from "../../contract/workflows/review-progress.ts";
import { renderGaps } from "../../pages/components/gaps.ts";
import { createReviewerTable, createRoundTable, renderSubmissionBoard } from "../../pages/components/progress.ts";
import { renderRecords } from "../../pages/components/table.ts";
import { type Drawing, startView } from "../base/start-view.ts";

interface State {
  /** True if only submissions and reviewers with late reviews are shown. */
  readonly onlyLate: boolean;
}

await startView<ReviewProgress, State>({
  name: "progress",
  state: { onlyLate: false },
  render: renderProgress,
  actions: {
    "only-late": ({ state, setState }) => setState({ onlyLate: !state.onlyLate }),
    refresh: async ({ input, callTool, show, announce }) => {
      announce("Reading …");
      show(await callTool<ReviewProgress>("get_review_progress", input));
    },
  },
});

function renderProgress({ data, state: { onlyLate }, callsTools }: Drawing<ReviewProgress, State>) {
  const keep = ({ overdue }: { readonly overdue: number }) => !onlyLate || overdue > 0;
  const { rounds, ...gaps } = data;
  return html`<div class="toolbar">
      <h1>Review progress</h1>
      <button id="only-late" class="quiet" data-action="only-late" aria-pressed="${String(onlyLate)}">Only late</button>
      ${callsTools ? html`<button id="refresh" class="quiet" data-action="refresh">Refresh</button>` : ""}
    </div>
    <h2>Rounds</h2>
    ${renderRecords(createRoundTable(rounds))}
    <h2>Submissions by state</h2>
    ${renderSubmissionBoard(data.submissions.filter(keep), rounds)}
    <h2>Reviews by reviewer</h2>
    ${renderRecords(createReviewerTable(data.reviewers.filter(keep)))}${renderGaps(gaps)}`;
}
