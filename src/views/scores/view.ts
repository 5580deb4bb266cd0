import { html } from "hono/html";
import type { ScoreTable } from "../../contract/workflows/score-table.ts";
import { renderSelect } from "../../pages/components/choices.ts";
import type { SortOrder } from "../../pages/components/data-table.ts";
import { renderGaps } from "../../pages/components/gaps.ts";
import {
  createScoreTable,
  formatRoundName,
  renderComparison,
  renderScoreChart,
  type ScoredRound,
  type ScoredSubmission,
} from "../../pages/components/scores.ts";
import { type RecordTable, renderRecords, sortRecords } from "../../pages/components/table.ts";
import { type Drawing, startView } from "../base/start-view.ts";

interface State {
  /** The number of the round in the result. */
  readonly round: number;
  /** The order that the person has chosen; the best first until then. */
  readonly sort: SortOrder;
  /** Ids of the submissions that are compared, at most two. */
  readonly compared: readonly string[];
}

/** The column of the ranks. */
const byRank: SortOrder = { column: 1, descending: false };

await startView<ScoreTable, State>({
  name: "scores",
  state: { round: 0, sort: byRank, compared: [] },
  render: renderScores,
  actions: {
    round: ({ value, setState }) => setState({ round: Number(value), sort: byRank, compared: [] }),
    sort: ({ value, state, setState }) => {
      const column = Number(value);
      const descending = state.sort.column === column ? !state.sort.descending : column > byRank.column;
      setState({ sort: { column, descending } });
    },
    compare: ({ value, state: { compared }, setState }) =>
      setState({
        // A third choice replaces the first.
        compared: compared.includes(value) ? compared.filter((id) => id !== value) : [...compared, value].slice(-2),
      }),
  },
});

function renderScores({ data, state }: Drawing<ScoreTable, State>) {
  const { rounds, ...gaps } = data;
  const round = rounds[state.round];
  if (!round) return html`<h1>Scores</h1><p>No review has been submitted yet.</p>${renderGaps(gaps)}`;
  const choices = rounds.map((each, index) => ({ value: String(index), label: formatRoundName(each) }));
  return html`<div class="toolbar">
      <h1>Scores: ${formatRoundName(round)}</h1>
      ${rounds.length > 1 ? renderSelect("round", "Round", choices, String(state.round), "round") : ""}
    </div>
    <p class="hint">${round.reviewCount} reviews of ${round.submissionCount} submissions</p>
    ${renderScoreChart(round)}
    <h2>Compare</h2>
    ${renderCompared(round, state.compared)}
    <h2>Table</h2>
    ${renderRecords(sortRecords(createComparableTable(round, state.compared), state.sort))}${renderGaps(gaps)}`;
}

function renderCompared(round: ScoredRound, compared: readonly string[]) {
  const [first, second] = round.submissions.filter(({ submissionId }) => compared.includes(submissionId));
  if (!first || !second) return html`<p class="hint">Choose two submissions in the table.</p>`;
  return renderComparison(round, [first, second]);
}

/** Adds boxes to the titles by which two submissions are chosen. */
function createComparableTable(round: ScoredRound, compared: readonly string[]): RecordTable<ScoredSubmission> {
  const table = createScoreTable(round);
  const render = ({ submissionId, title }: ScoredSubmission) =>
    html`<label class="choice">
      <input
        type="checkbox"
        id="compare-${submissionId}"
        data-action="compare"
        value="${submissionId}"
        ${compared.includes(submissionId) ? "checked" : ""}
      />
      ${title || "Without a title"}
    </label>`;
  return { ...table, columns: table.columns.map((column, index) => (index === 0 ? { ...column, render } : column)) };
}
