import { html } from "hono/html";
import type { AssignmentOutcome } from "../../contract/assignments.ts";
import type { ReviewerCandidate, ReviewerCandidates } from "../../contract/workflows/reviewer-candidates.ts";
import { renderTable } from "../../pages/components/data-table.ts";
import { formatCode } from "../../pages/components/format.ts";
import { renderGaps } from "../../pages/components/gaps.ts";
import { type OutcomeRow, renderBatchOutcome } from "../../pages/components/outcome.ts";
import { type Controls, type Drawing, startView } from "../base/start-view.ts";
import {
  changePair,
  countAdded,
  createPairKey,
  createPlanCalls,
  type FoundAssignment,
  findCandidate,
  findHindrance,
  isWanted,
  listPlannedReviewers,
  listPlanSteps,
  type PlanChanges,
  type PlannedReviewer,
  type PlanSubmission,
} from "./plan.ts";

interface State {
  readonly changes: PlanChanges;
  /** The outcome of the calls that were sent last. */
  readonly outcome: readonly PlanOutcome[];
}

type PlanOutcome = OutcomeRow & { readonly data?: Partial<AssignmentOutcome> };
type PlanControls = Controls<ReviewerCandidates, State>;

const candidatesTool = "list_reviewer_candidates";
/** The most candidates of a submission that the tool lists. */
const maxCandidates = 500;

await startView<ReviewerCandidates, State>({
  name: "plan",
  state: { changes: {}, outcome: [] },
  render: renderPlan,
  actions: {
    toggle: ({ data, state: { changes }, value, setState }) => {
      const [submissionId = "", reviewerId = ""] = value.split(" ");
      const candidate = findCandidate(data, submissionId, reviewerId);
      const wanted = candidate !== undefined && !isWanted(changes, submissionId, candidate);
      setState({ changes: changePair(data, changes, [submissionId, reviewerId], wanted) });
    },
    // A dragged assignment moves to another reviewer of the same submission. A dragged reviewer is assigned.
    move: ({ data, state, value, setState, announce }) => {
      const [from = "", former = "", submissionId = "", reviewerId = ""] = value.split(" ");
      if (from === "reviewer") {
        setState({ changes: changePair(data, state.changes, [submissionId, former], true) });
      } else if (from !== submissionId) announce("An assignment moves between the reviewers of one submission.");
      else if (former !== reviewerId) {
        const added = changePair(data, state.changes, [submissionId, reviewerId], true);
        // Without the new assignment, the former one stays.
        if (added !== state.changes) setState({ changes: changePair(data, added, [submissionId, former], false) });
      }
    },
    discard: ({ setState }) => setState({ changes: {} }),
    all: async ({ input, callTool, show, announce }) => {
      announce("Reading …");
      show(await callTool<ReviewerCandidates>(candidatesTool, { ...input, limit: maxCandidates }));
    },
    send: sendChanges,
  },
});

async function sendChanges({ data, state, input, callTool, show, setState, announce }: PlanControls): Promise<void> {
  const { roundId } = data;
  announce("Reading the assignments …");
  const calls = await createPlanCalls(roundId, listPlanSteps(state.changes), async (submissionId, reviewerId) => {
    const found = await callTool<FoundAssignment[]>("list_assignments", { roundId, submissionId, reviewerId });
    const assignment = found.kind === "data" ? found.data[0] : undefined;
    if (!assignment) throw new Error("An assignment has changed meanwhile. Ask for the candidates again.");
    return assignment;
  });
  const finish = async (outcome: readonly PlanOutcome[]) => {
    setState({ changes: {}, outcome });
    show(await callTool<ReviewerCandidates>(candidatesTool, input));
  };
  const answer = await callTool<readonly PlanOutcome[]>(
    "run_batch",
    { calls },
    {
      onAnswer: finish,
      onBack: () => show({ kind: "data", data, notes: [] }),
    },
  );
  if (answer.kind === "data") await finish(answer.data);
  else show(answer);
}

function renderPlan({ data, state, callsTools }: Drawing<ReviewerCandidates, State>) {
  const { changes, outcome } = state;
  const reviewers = listPlannedReviewers(data);
  const isTruncated = data.truncated !== undefined && reviewers.length < maxCandidates;
  return html`<div class="toolbar">
      <h1>Assignment plan: ${data.name ?? data.roundId}</h1>
      ${callsTools && isTruncated ? html`<button id="all" class="quiet" data-action="all">All reviewers</button>` : ""}
    </div>
    <p class="hint">Tick who reviews what, or drag an assignment to another reviewer. Nothing is sent yet.</p>
    ${outcome.length > 0 ? html`<h2>Sent</h2>${renderBatchOutcome(outcome)}${renderSkipped(outcome, data, reviewers)}` : ""}
    <h2>Reviewers and submissions</h2>
    ${renderMatrix(data, reviewers, changes)}${renderGaps(data)}
    <h2>Changes</h2>
    ${renderChanges(data, reviewers, changes, callsTools)}`;
}

function renderMatrix(
  { submissions }: ReviewerCandidates,
  reviewers: readonly PlannedReviewer[],
  changes: PlanChanges,
) {
  const countReviewers = ({ submissionId, candidates }: PlanSubmission) =>
    candidates.filter((candidate) => isWanted(changes, submissionId, candidate)).length;
  return renderTable({
    caption: "Reviewers and the submissions that they review",
    headings: [
      "Reviewer",
      "Open",
      "Room",
      ...submissions.map((submission) => `${nameSubmission(submission)}: ${countReviewers(submission)}`),
    ],
    rows: reviewers.map((reviewer) => {
      const { reviewerId, affiliation, open, room, bySubmission } = reviewer;
      const added = countAdded(changes, reviewerId);
      const left = room === null ? null : room - added;
      return [
        html`<span draggable="true" data-drag="reviewer ${reviewerId}">${nameReviewer(reviewer)}</span>
          ${affiliation ? html`<p class="hint">${affiliation}</p>` : ""}`,
        renderNumber(open, open === null ? null : open + added),
        left !== null && left < 0 ? html`<strong class="late">${-left} too many</strong>` : renderNumber(room, left),
        ...submissions.map((submission) => {
          const candidate = bySubmission.get(submission.submissionId);
          return candidate ? renderPair(submission, candidate, changes) : "–";
        }),
      ];
    }),
    empty: "The round has no active reviewer.",
  });
}

function renderNumber(before: number | null, after: number | null) {
  if (before === null || after === before) return before ?? "–";
  return html`<del>${before}</del> <ins>${after}</ins>`;
}

/** Renders the box of a pair, with what speaks for and against it. */
function renderPair(submission: PlanSubmission, candidate: ReviewerCandidate, changes: PlanChanges) {
  const { submissionId } = submission;
  const { reviewerId, assigned, conflicts, matchingExpertise, reviewedBefore } = candidate;
  const key = createPairKey(submissionId, reviewerId);
  const wanted = isWanted(changes, submissionId, candidate);
  const hindrance = findHindrance(candidate);
  return html`<div
    class="pair ${key in changes ? "changed" : ""}"
    data-drop="move"
    data-value="${key}"
    ${wanted && !hindrance ? html`draggable="true" data-drag="${key}"` : ""}
  >
    <input
      type="checkbox"
      id="pair-${submissionId}-${reviewerId}"
      data-action="toggle"
      value="${key}"
      aria-label="${nameReviewer(candidate)} reviews ${nameSubmission(submission)}"
      ${wanted ? "checked" : ""}
      ${hindrance ? "disabled" : ""}
    />
    ${assigned ? html`<span class="hint">${formatCode(assigned)}</span>` : ""}
    ${conflicts.map((conflict) => html`<strong class="late">${formatCode(conflict)}</strong>`)}
    ${matchingExpertise?.length ? html`<span class="hint">${matchingExpertise.join(", ")}</span>` : ""}
    ${reviewedBefore ? html`<span class="hint">Reviewed before</span>` : ""}
  </div>`;
}

function renderChanges(
  data: ReviewerCandidates,
  reviewers: readonly PlannedReviewer[],
  changes: PlanChanges,
  callsTools: boolean,
) {
  const steps = listPlanSteps(changes);
  if (steps.length === 0) return html`<p>Nothing is changed.</p>`;
  const name = createNames(data, reviewers);
  return html`<ul>
      ${steps.map(({ submissionId, removed, added }) => {
        const title = name(submissionId);
        if (removed === undefined) return html`<li>${title}: <ins>${name(added)}</ins> is assigned</li>`;
        if (added === undefined) return html`<li>${title}: <del>${name(removed)}</del> is removed</li>`;
        return html`<li>${title}: moves from <del>${name(removed)}</del> to <ins>${name(added)}</ins></li>`;
      })}
    </ul>
    <div class="choices">
      ${callsTools ? html`<button id="send" data-action="send">Send the changes</button>` : html`<p class="hint">Give the changes to the assistant.</p>`}
      <button id="discard" class="quiet" data-action="discard">Discard</button>
    </div>`;
}

/** Renders the pairs that the server has not assigned, with the reason. */
function renderSkipped(
  outcome: readonly PlanOutcome[],
  data: ReviewerCandidates,
  reviewers: readonly PlannedReviewer[],
) {
  const name = createNames(data, reviewers);
  return outcome
    .flatMap((row) => row.data?.skipped ?? [])
    .map(
      ({ submissionId, reviewerId, reason }) =>
        html`<p class="hint">Not assigned: ${name(reviewerId)} for ${name(submissionId)} (${formatCode(reason)}).</p>`,
    );
}

/** Returns a function that names submissions and reviewers by their ids. */
function createNames({ submissions }: ReviewerCandidates, reviewers: readonly PlannedReviewer[]) {
  const names = new Map([
    ...submissions.map((each) => [each.submissionId, nameSubmission(each)] as const),
    ...reviewers.map((each) => [each.reviewerId, nameReviewer(each)] as const),
  ]);
  return (id: string | undefined) => names.get(id ?? "") ?? id ?? "";
}

function nameReviewer({ name, reviewerId }: Pick<ReviewerCandidate, "name" | "reviewerId">): string {
  return name || reviewerId;
}

function nameSubmission({ title }: PlanSubmission): string {
  return title || "Without a title";
}
