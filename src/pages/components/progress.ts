import { html } from "hono/html";
import type { SubmissionState } from "../../contract/submissions.ts";
import type { ReviewProgress } from "../../contract/workflows/review-progress.ts";
import { formatCode } from "./format.ts";
import { createTimeColumn, type RecordTable } from "./table.ts";

type RoundProgress = ReviewProgress["rounds"][number];

export function createRoundTable(rows: readonly RoundProgress[]): RecordTable<RoundProgress> {
  return {
    caption: "Progress of the review rounds",
    rows,
    empty: "There are no review rounds yet.",
    columns: [
      { header: "Round", value: ({ name, roundId }) => name ?? roundId },
      { header: "Track", value: ({ track }) => track },
      createTimeColumn("Deadline", ({ deadline }) => deadline),
      { header: "Submissions", value: ({ submissions }) => submissions },
      {
        header: "Reviews submitted",
        value: ({ submitted }) => submitted,
        render: ({ submitted, required, name }) =>
          renderShare(submitted, required, `Reviews of ${name ?? "the round"}`),
      },
      { header: "Required", value: ({ required }) => required },
      { header: "Missing", value: ({ missing }) => missing },
      { header: "Overdue", value: ({ overdue }) => overdue, render: ({ overdue }) => renderLate(overdue) },
      { header: "Conflicts", value: ({ conflicts }) => conflicts },
    ],
  };
}

/** Renders a number of late reviews, which stands out if there are any. */
function renderLate(overdue: number) {
  return overdue > 0 ? html`<strong class="late">${overdue} late</strong>` : overdue;
}

function renderShare(done: number, of: number | null, label: string) {
  return html`${done} ${renderBar(done, of ?? 0, label)}`;
}

function renderBar(done: number, of: number, label: string) {
  return of === 0 ? "" : html`<progress value="${Math.min(done, of)}" max="${of}" aria-label="${label}"></progress>`;
}

type ReviewerLoad = ReviewProgress["reviewers"][number];

export function createReviewerTable(rows: readonly ReviewerLoad[]): RecordTable<ReviewerLoad> {
  return {
    caption: "Load of the reviewers, the most overdue first",
    rows,
    empty: "Nobody has been assigned a review yet.",
    columns: [
      { header: "Reviewer", value: ({ name, reviewerId }) => name ?? reviewerId },
      { header: "Assigned", value: ({ assigned }) => assigned },
      { header: "Begun", value: ({ drafted }) => drafted },
      {
        header: "Submitted",
        value: ({ submitted }) => submitted,
        render: ({ submitted, assigned, name }) =>
          renderShare(submitted, assigned, `Reviews of ${name ?? "the reviewer"}`),
      },
      { header: "Overdue", value: ({ overdue }) => overdue, render: ({ overdue }) => renderLate(overdue) },
      { header: "Conflicts", value: ({ conflicts }) => conflicts },
    ],
  };
}

type SubmissionProgress = ReviewProgress["submissions"][number];

/** The order of the board's columns: that of a submission's life. */
const stateOrder: readonly (SubmissionState | null)[] = [
  "DRAFT",
  "SUBMITTED",
  "ELIGIBLE",
  "IN_REVIEW",
  "FINALIST",
  "WINNER",
  "INELIGIBLE",
  "ELIMINATED",
  "WITHDRAWN",
  null,
];

/** Cards of a column that are shown at once. */
const maxOpenCards = 6;

/** Renders submissions as a board with a column for each state. */
export function renderSubmissionBoard(
  submissions: readonly SubmissionProgress[],
  rounds: readonly Pick<RoundProgress, "roundId" | "name">[],
) {
  if (submissions.length === 0) return html`<p>There are no submissions here.</p>`;
  const byState = Map.groupBy(submissions, ({ state }) => state);
  const names = new Map(rounds.map(({ roundId, name }) => [roundId, name]));
  const renderCards = (cards: readonly SubmissionProgress[]) =>
    html`<ul class="cards">
      ${cards.map((card) => renderCard(card, names.get(card.roundId) ?? card.roundId))}
    </ul>`;
  return html`<div class="board">
    ${stateOrder.map((state) => {
      const cards = byState.get(state);
      if (!cards) return "";
      const id = `state-${state ?? "none"}`;
      return html`<section aria-labelledby="${id}">
        <h3 id="${id}">${state === null ? "State not known" : formatCode(state)}: ${cards.length}</h3>
        ${renderCards(cards.slice(0, maxOpenCards))}${
          cards.length > maxOpenCards
            ? html`<details id="${id}-more">
                <summary>${cards.length - maxOpenCards} more</summary>
                ${renderCards(cards.slice(maxOpenCards))}
              </details>`
            : ""
        }
      </section>`;
    })}
  </div>`;
}

function renderCard({ title, submitted, required, assigned, overdue }: SubmissionProgress, round: string) {
  const name = title || "Without a title";
  const expected = Math.max(required ?? 0, assigned);
  return html`<li>
    <strong>${name}</strong>
    <p class="hint">${round}</p>
    <p>${submitted} of ${expected} reviews ${overdue > 0 ? renderLate(overdue) : ""}</p>
    ${renderBar(submitted, expected, `Reviews of ${name}`)}
  </li>`;
}
