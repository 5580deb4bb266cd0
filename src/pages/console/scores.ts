import { html } from "hono/html";
import type { User } from "../../contract/access/roles.ts";
import type { Program } from "../../contract/programs.ts";
import type { ScoreTable } from "../../contract/workflows/score-table.ts";
import { renderGaps } from "../components/gaps.ts";
import { createScoreTable, formatRoundName, renderScoreChart, type ScoredRound } from "../components/scores.ts";
import { type RecordTable, renderDownloads, renderRecords } from "../components/table.ts";
import { programsPath, renderProgramPage } from "./programs.ts";

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
        html`<h2>${formatRoundName(round)}</h2>
          <p>${round.reviewCount} reviews of ${round.submissionCount} submissions.</p>
          ${renderScoreChart(round)}${renderRecords(createLinkedTable(round))}
          ${renderDownloads(path, { roundId: round.roundId })}`,
    )}${renderGaps(scores)}`,
  );
}

function createLinkedTable(round: ScoredRound): RecordTable<ScoredRound["submissions"][number]> {
  const table = createScoreTable(round);
  const [title, ...columns] = table.columns;
  if (!title) return table;
  const render = ({ submissionId, title }: ScoredRound["submissions"][number]) =>
    html`<a href="/submissions/${submissionId}">${title || "Without a title"}</a>`;
  return { ...table, columns: [{ ...title, render }, ...columns] };
}
