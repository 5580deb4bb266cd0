import { html } from "hono/html";
import type { ScoreTable } from "../../contract/workflows/score-table.ts";
import { renderTable } from "./data-table.ts";
import { formatCode, formatScore } from "./format.ts";
import type { RecordColumn, RecordTable } from "./table.ts";

export type ScoredRound = ScoreTable["rounds"][number];
export type ScoredSubmission = ScoredRound["submissions"][number];

export function formatRoundName({ name, track, roundId }: ScoredRound): string {
  return track === null ? (name ?? roundId) : `${track}: ${name ?? roundId}`;
}

/** Returns the statistics by which the submission is ranked. */
function getRankedScore({ weighted, total }: ScoredSubmission): ScoredSubmission["weighted"] {
  return weighted.mean === null ? total : weighted;
}

function roundScore(score: number | null | undefined): number | null {
  return score === null || score === undefined ? null : Math.round(score * 100) / 100;
}

/** Creates the table of a round's scores. Criteria show their mean with the range of the reviews. */
export function createScoreTable(round: ScoredRound): RecordTable<ScoredSubmission> {
  return {
    caption: `Scores of ${formatRoundName(round)}, the best first`,
    rows: round.submissions,
    empty: "No review has been submitted yet.",
    columns: [
      { header: "Title", value: ({ title, submissionId }) => title ?? submissionId },
      { header: "Rank", value: ({ rank }) => rank },
      { header: "State", value: ({ state }) => (state === null ? null : formatCode(state)) },
      { header: "Reviews", value: (row) => getRankedScore(row).count },
      { header: "Mean", value: (row) => roundScore(getRankedScore(row).mean) },
      { header: "Lowest", value: (row) => roundScore(getRankedScore(row).min) },
      { header: "Highest", value: (row) => roundScore(getRankedScore(row).max) },
      { header: "Spread", value: ({ spread }) => roundScore(spread) },
      ...round.criteria.map((criterion): RecordColumn<ScoredSubmission> => {
        const header = nameCriterion(criterion);
        const highest = criterion.max ?? Math.max(...round.submissions.map((row) => row.criteria[header]?.max ?? 0));
        return {
          header,
          value: ({ criteria }) => roundScore(criteria[header]?.mean),
          render: ({ criteria }) => renderDistribution(criteria[header], highest),
        };
      }),
    ],
  };
}

function nameCriterion({ label, criterionId }: ScoredRound["criteria"][number]): string {
  return label ?? criterionId;
}

const rangeWidth = 72;

/** Renders a mean, with a line from the lowest to the highest review on the criterion's scale. */
function renderDistribution(statistics: ScoredSubmission["weighted"] | undefined, highest: number) {
  const { mean = null, min = null, max = null } = statistics ?? {};
  if (mean === null || min === null || max === null) return null;
  const toX = (score: number) => (highest > 0 ? Math.round((Math.max(score, 0) / highest) * (rangeWidth - 8)) + 4 : 4);
  return html`${formatScore(mean)}
    <svg class="range" viewBox="0 0 ${rangeWidth} 10" width="${rangeWidth}" height="10" aria-hidden="true">
      <line class="range-scale" x1="4" x2="${rangeWidth - 4}" y1="5" y2="5" />
      <line class="bar-range" x1="${toX(min)}" x2="${toX(max)}" y1="5" y2="5" />
      <circle class="range-mean" cx="${toX(mean)}" cy="5" r="4" />
    </svg>
    <span class="hint">${formatScore(min)} to ${formatScore(max)}</span>`;
}

/** Renders two submissions of a round side by side. */
export function renderComparison(round: ScoredRound, [first, second]: readonly [ScoredSubmission, ScoredSubmission]) {
  const pairs = [
    { name: "Mean", scores: [getRankedScore(first).mean, getRankedScore(second).mean] },
    { name: "Spread", scores: [first.spread, second.spread] },
    ...round.criteria.map((criterion) => {
      const name = nameCriterion(criterion);
      return { name, scores: [first.criteria[name]?.mean, second.criteria[name]?.mean] };
    }),
  ] as const;
  const difference = ([one, other]: readonly (number | null | undefined)[]) =>
    typeof one === "number" && typeof other === "number" ? roundScore(one - other) : null;
  return renderTable({
    caption: "Two submissions compared",
    headings: ["Score", nameSubmission(first), nameSubmission(second), "Difference"],
    rows: pairs.map(({ name, scores }) => [
      name,
      ...scores.map((score) => roundScore(score) ?? "–"),
      difference(scores) ?? "–",
    ]),
    empty: "",
  });
}

function nameSubmission({ title }: ScoredSubmission): string {
  return title || "Without a title";
}

const maxBars = 15;
const maxTitleChars = 36;
const rowHeight = 26;
const barStart = 270;
const barWidth = 400;

/** Renders the mean scores of the best submissions as bars, with the range of their reviews. The table has the numbers. */
export function renderScoreChart(round: ScoredRound) {
  const rows = round.submissions.slice(0, maxBars);
  const highest = Math.max(...rows.map((row) => getRankedScore(row).max ?? 0));
  if (!(highest > 0)) return "";
  const toX = (score: number) => Math.round(barStart + (Math.max(score, 0) / highest) * barWidth);
  const label = `Mean scores of the ${rows.length} best submissions of ${formatRoundName(round)}. The table below has the numbers.`;
  return html`<figure class="chart">
    <div class="scroll" role="region" aria-label="Chart of ${formatRoundName(round)}" tabindex="0">
      <svg viewBox="0 0 760 ${rows.length * rowHeight}" role="img" aria-label="${label}">
        ${rows.map((row, index) => renderBar(row, index * rowHeight, toX))}
      </svg>
    </div>
    <figcaption>Bars are mean scores; lines reach from the lowest to the highest review.</figcaption>
  </figure>`;
}

function renderBar(row: ScoredSubmission, top: number, toX: (score: number) => number) {
  const { mean, min, max } = getRankedScore(row);
  const middle = top + rowHeight / 2;
  const title = [...(row.title ?? row.submissionId)];
  const shown = title.length > maxTitleChars ? `${title.slice(0, maxTitleChars - 1).join("")}…` : title.join("");
  return html`<text x="${barStart - 10}" y="${middle + 4}" text-anchor="end">${shown}</text>
    <rect class="bar-track" x="${barStart}" y="${top + 5}" width="${barWidth}" height="${rowHeight - 10}" />
    <rect class="bar-value" x="${barStart}" y="${top + 5}" width="${toX(mean ?? 0) - barStart}" height="${rowHeight - 10}" />
    <line class="bar-range" x1="${toX(min ?? 0)}" x2="${toX(max ?? 0)}" y1="${middle}" y2="${middle}" />
    <text x="${barStart + barWidth + 10}" y="${middle + 4}">${formatScore(mean)}</text>`;
}
