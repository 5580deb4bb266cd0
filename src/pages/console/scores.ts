import { html } from "hono/html";
import type { User } from "../../contract/access/roles.ts";
import type { Program } from "../../contract/programs.ts";
import type { ScoreTable } from "../../contract/workflows/score-table.ts";
import { formatCode, formatScore } from "../components/format.ts";
import { renderGaps } from "../components/gaps.ts";
import { type RecordTable, renderDownloads, renderRecords } from "../components/table.ts";
import { programsPath, renderProgramPage } from "./programs.ts";

export type ScoredRound = ScoreTable["rounds"][number];
type ScoredSubmission = ScoredRound["submissions"][number];

/** Renders the scores of a programme: for each round a chart of the best submissions, and a table of all. */
export function renderScoresPage(user: User, program: Program, scores: ScoreTable) {
  const path = `${programsPath}/${program.programId}/scores`;
  return renderProgramPage(
    user,
    program,
    "/scores",
    html`${scores.rounds.length === 0 ? html`<p>No review has been submitted yet.</p>` : ""}
    ${scores.rounds.map(
      (round) =>
        html`<h2>${nameRound(round)}</h2>
          <p>${round.reviewCount} reviews of ${round.submissionCount} submissions.</p>
          ${renderChart(round)}${renderRecords(createScoreTable(round))}
          ${renderDownloads(path, { roundId: round.roundId })}`,
    )}${renderGaps(scores)}`,
  );
}

function nameRound({ name, track, roundId }: ScoredRound): string {
  return track === null ? (name ?? roundId) : `${track}: ${name ?? roundId}`;
}

/** Returns the statistics by which the submission is ranked. */
function getRankedScore({ weighted, total }: ScoredSubmission): ScoredSubmission["weighted"] {
  return weighted.mean === null ? total : weighted;
}

/** Creates the table of a round's scores. */
export function createScoreTable(round: ScoredRound): RecordTable<ScoredSubmission> {
  const roundScore = (pick: (row: ScoredSubmission) => number | null) => (row: ScoredSubmission) => {
    const score = pick(row);
    return score === null ? null : Math.round(score * 100) / 100;
  };
  return {
    caption: `Scores of ${nameRound(round)}, the best first`,
    rows: round.submissions,
    empty: "No review has been submitted yet.",
    columns: [
      {
        header: "Title",
        value: ({ title, submissionId }) => title ?? submissionId,
        render: ({ submissionId, title }) =>
          html`<a href="/submissions/${submissionId}">${title || "Without a title"}</a>`,
      },
      { header: "Rank", value: ({ rank }) => rank },
      { header: "State", value: ({ state }) => (state === null ? null : formatCode(state)) },
      { header: "Reviews", value: (row) => getRankedScore(row).count },
      { header: "Mean", value: roundScore((row) => getRankedScore(row).mean) },
      { header: "Lowest", value: roundScore((row) => getRankedScore(row).min) },
      { header: "Highest", value: roundScore((row) => getRankedScore(row).max) },
      ...round.criteria.map(({ criterionId, label }) => ({
        header: label ?? criterionId,
        value: roundScore(({ criteria }) => criteria[label ?? criterionId]?.mean ?? null),
      })),
    ],
  };
}

const maxBars = 15;
const maxTitleChars = 36;
const rowHeight = 26;
const barStart = 270;
const barWidth = 400;

/** Renders the mean scores of the best submissions as bars, with the range of their reviews. The table has the numbers. */
function renderChart(round: ScoredRound) {
  const rows = round.submissions.slice(0, maxBars);
  const highest = Math.max(...rows.map((row) => getRankedScore(row).max ?? 0));
  if (!(highest > 0)) return "";
  const toX = (score: number) => Math.round(barStart + (Math.max(score, 0) / highest) * barWidth);
  const label = `Mean scores of the ${rows.length} best submissions of ${nameRound(round)}. The table below has the numbers.`;
  return html`<figure class="chart">
    <svg viewBox="0 0 760 ${rows.length * rowHeight}" role="img" aria-label="${label}">
      ${rows.map((row, index) => renderBar(row, index * rowHeight, toX))}
    </svg>
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
