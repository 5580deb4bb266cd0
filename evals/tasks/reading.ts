import type { AuditEntry } from "../../src/contract/audit.ts";
import type { Review } from "../../src/contract/reviews.ts";
import type { Rubric } from "../../src/contract/schemas.ts";
import type { Submission } from "../../src/contract/submissions.ts";
import {
  type Fact,
  listChangeErrors,
  listDateForms,
  listForbidden,
  listMissingFacts,
  listMissingRows,
} from "../harness/checks.ts";
import {
  chooseSubmission,
  findProgram,
  findRound,
  findSubmission,
  findTrack,
  formatReviewer,
  listAssignments,
  listFittingReviewers,
  listReviewers,
  listSubmissions,
  listUnreleased,
  readField,
} from "../harness/records.ts";
import type { Task } from "../harness/task.ts";

const countStates: Task = {
  name: "count-states",
  kind: "reading",
  prompt:
    "For the board: how many applications are in each state in the Common Ground Fund 2026, and how many were there in the 2025 one? One line for each state, with this year's number and last year's.",
  limits: { calls: 5, bytes: 15_000 },
  async check({ world, answer }) {
    const [current, last] = await Promise.all(
      ["Common Ground Fund 2026", "Common Ground Fund 2025"].map(async (name) => {
        const { programId } = await findProgram(world.rest, name);
        return Map.groupBy(await listSubmissions(world.rest, { programId }), ({ state }) => state);
      }),
    );
    const rows = [...(current ?? [])].map(([state, { length }]): Fact[] => {
      const before = last?.get(state)?.length;
      return [nameState(state), length, ...(before === undefined ? [] : [before])];
    });
    return [...listMissingRows(answer, rows), ...(await listChangeErrors(world, {}))];
  },
};

function nameState(state: string): string[] {
  return [state, state.replaceAll("_", " "), state.replaceAll("_", "-")];
}

const lateReviews: Task = {
  name: "late-reviews",
  kind: "reading",
  now: "2026-12-28T10:00:00.000Z",
  prompt:
    "The first reading of Community projects (Common Ground Fund 2026) should be over. Which reviews are late? One line for each: title of the application and name of the reviewer, so that I can ring them.",
  limits: { calls: 8, bytes: 25_000 },
  async check({ world, answer }) {
    const { rest } = world;
    const { roundId } = await findRound(rest, "Community projects", "First reading");
    const open = await listAssignments(rest, { roundId, status: "incomplete" });
    // A reviewer with a conflict of interest is not late.
    const late = open.filter(
      ({ status, dueAt }) => status !== "conflict" && dueAt !== null && dueAt < world.now().toISOString(),
    );
    const titles = new Map((await listSubmissions(rest)).map(({ submissionId, title }) => [submissionId, title]));
    const names = new Map(
      (await listReviewers(rest)).map((reviewer) => [reviewer.reviewerId, formatReviewer(reviewer)]),
    );
    if (late.length === 0) throw new Error("The demonstration data have no late reviews");
    const rows = late.map(({ submissionId, reviewerId }) => [
      titles.get(submissionId) ?? "",
      names.get(reviewerId) ?? "",
    ]);
    return [...listMissingRows(answer, rows), ...(await listChangeErrors(world, {}))];
  },
};

const scoreTable: Task = {
  name: "score-table",
  kind: "reading",
  prompt:
    "Make me a table of the scores of Enterprise pilots (Common Ground Fund 2026) in the first reading: one line for each application with submitted reviews, with its title, the mean of each criterion, and how many reviews there are. Submitted reviews only. Round to one decimal.",
  limits: { calls: 10, bytes: 40_000 },
  async check({ world, answer }) {
    const { rest } = world;
    const round = await findRound(rest, "Enterprise pilots", "First reading");
    const reviews = await rest.list<Review>(`/reviews?roundId=${round.roundId}`);
    const rubric = await rest.get<Rubric>(`/rubrics/${round.rubricId}?version=${round.rubricVersion}`);
    const titles = new Map((await listSubmissions(rest)).map(({ submissionId, title }) => [submissionId, title]));
    const submitted = Map.groupBy(
      reviews.filter(({ status }) => status === "submitted"),
      ({ submissionId }) => submissionId,
    );
    const rows = [...submitted].map(([submissionId, all]): Fact[] => [
      titles.get(submissionId) ?? "",
      all.length,
      ...rubric.criteria.map(({ criterionId }) => roundMean(all.map((review) => readScore(review, criterionId)))),
    ]);
    const labels = rubric.criteria.map(({ label }) => label);
    return [...listMissingRows(answer, rows), ...listMissingFacts(answer, labels)];
  },
};

function readScore({ scores }: Review, criterionId: string): number {
  return Number(scores.find((score) => score.criterionId === criterionId)?.value);
}

function roundMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

const whoChanged: Task = {
  name: "who-changed",
  kind: "reading",
  prompt:
    "An applicant says that the deadline of her draft “{title}” (Common Ground Fund 2026) has moved twice this week. Is that so? Tell me from which day to which, each time, and which token or person did it (the id will do).",
  limits: { calls: 5, bytes: 15_000 },
  async prepare({ rest }) {
    const { title, submissionId } = await chooseSubmission(rest, { state: "DRAFT" });
    for (const deadline of ["2026-12-14T22:00:00.000Z", "2026-12-09T22:00:00.000Z"]) {
      const { version } = await findSubmission(rest, title);
      await rest.send("PATCH", `/submissions/${submissionId}`, { version, deadline });
    }
    return { names: { title }, subjects: [submissionId] };
  },
  async check({ world, subjects: [submissionId], answer }) {
    const entries = await world.rest.list<AuditEntry>(`/audit?submissionId=${submissionId}`);
    const moves = entries.flatMap(({ actorId, changes }) =>
      changes.filter(({ path, from }) => path === "deadline" && from).map(({ from, to }) => ({ actorId, from, to })),
    );
    const days = moves.flatMap(({ from, to }) => [listDateForms(String(from)), listDateForms(String(to))]);
    const actors = moves.map(({ actorId }) => [actorId, "Programme desk"]);
    return listMissingFacts(answer, [...days, ...actors]);
  },
};

const callBrief: Task = {
  name: "call-brief",
  kind: "reading",
  prompt:
    "The applicant of “{title}” (Common Ground Fund 2026) rings in ten minutes. What do I need to know: who they are, what they ask for and for how long, where the application stands and since when it is submitted, which reviews are in and which are not, and whether a supplement is open?",
  limits: { calls: 10, bytes: 30_000 },
  async prepare({ rest }) {
    const { title } = await chooseSubmission(rest, { state: "IN_REVIEW" }, async ({ submissionId }) => {
      const statuses = (await listAssignments(rest, { submissionId })).map(({ status }) => status);
      return statuses.includes("completed") && statuses.includes("accepted");
    });
    return { names: { title } };
  },
  async check({ world, names: { title = "" }, answer }) {
    const { rest } = world;
    const submission = await findSubmission(rest, title);
    const { submissionId, innovatorName, submittedAt } = submission;
    const assignments = await listAssignments(rest, { submissionId });
    const reviewers = await listReviewers(rest);
    const names = assignments.map(({ reviewerId }) =>
      reviewers.filter((reviewer) => reviewer.reviewerId === reviewerId).map((reviewer) => String(reviewer.lastName)),
    );
    const amounts = await Promise.all(
      ["requested_amount", "duration_months"].map(async (key) => Number(await readField(rest, submission, key))),
    );
    const supplements = await rest.get<{ status: string }[]>(`/submissions/${submissionId}/supplements`);
    const facts = [innovatorName, ...amounts, nameState(submission.state), listDateForms(submittedAt ?? ""), ...names];
    return [
      ...listMissingFacts(answer, [...facts, ...supplements.map(({ status }) => [status, status.replace("_", " ")])]),
      ...(await listChangeErrors(world, {})),
    ];
  },
};

const unpaidFees: Task = {
  name: "unpaid-fees",
  kind: "reading",
  prompt:
    "Which applications of Enterprise pilots in the Common Ground Fund 2026 have not paid their fee: still pending, or failed? Titles, and what is owed in EUR altogether.",
  limits: { calls: 6, bytes: 10_000 },
  async check({ world, answer }) {
    const { rest } = world;
    const { trackId } = await findTrack(rest, "Enterprise pilots");
    const unpaid = (
      await Promise.all(
        ["pending", "failed"].map((status) =>
          rest.list<{ submissionId: string; trackId: string; amountMinor: number }>(`/payments?status=${status}`),
        ),
      )
    )
      .flat()
      .filter((payment) => payment.trackId === trackId);
    const submissions = await listSubmissions(rest, { trackId });
    const titles = submissions
      .filter(({ submissionId }) => unpaid.some((payment) => payment.submissionId === submissionId))
      .map(({ title }) => String(title));
    const total = unpaid.reduce((sum, { amountMinor }) => sum + amountMinor, 0) / 100;
    return listMissingFacts(answer, [...titles, total]);
  },
};

const openWork: Task = {
  name: "open-work",
  kind: "reading",
  prompt:
    "What is waiting for us in the Common Ground Fund 2026? I need five numbers: applications to screen; applications that are eligible but not in a review round yet; applications in review to which no reviewer is assigned in their round; reviewers who reported a conflict of interest that nobody has resolved; texts of feedback that are written but not released.",
  limits: { calls: 10, bytes: 50_000 },
  async check({ world, answer }) {
    const { rest } = world;
    const { programId } = await findProgram(rest);
    const submissions = await listSubmissions(rest);
    const assignments = await listAssignments(rest, { programId });
    const isAssigned = ({ submissionId, currentRoundId }: Submission) =>
      assignments.some((each) => each.submissionId === submissionId && each.roundId === currentRoundId);
    const counts = [
      submissions.filter(({ state }) => state === "SUBMITTED").length,
      submissions.filter(({ state }) => state === "ELIGIBLE").length,
      submissions.filter((submission) => submission.state === "IN_REVIEW" && !isAssigned(submission)).length,
      assignments.filter(({ status }) => status === "conflict").length,
      (await listUnreleased(rest, programId)).length,
    ];
    return listMissingFacts(answer, counts);
  },
};

const reviewerCandidates: Task = {
  name: "reviewer-candidates",
  kind: "reading",
  prompt:
    "The panel wants one more opinion on “{title}” (Community projects, Common Ground Fund 2026). Which active reviewers of the panel review know its domain and have not been given this application in any round? Names only, one a line, all of them and nobody else.",
  limits: { calls: 8, bytes: 20_000 },
  async prepare({ rest }) {
    const { roundId } = await findRound(rest, "Community projects", "Panel review");
    const { title } = await chooseSubmission(rest, { roundId, state: "IN_REVIEW" }, async (submission) => {
      return (await listFittingReviewers(rest, roundId, submission)).length > 0;
    });
    return { names: { title } };
  },
  async check({ world, names: { title = "" }, answer }) {
    const { rest } = world;
    const { roundId } = await findRound(rest, "Community projects", "Panel review");
    const fits = await listFittingReviewers(rest, roundId, await findSubmission(rest, title));
    const names = fits.map(formatReviewer);
    const others = (await listReviewers(rest, { roundId })).map(formatReviewer);
    return [
      ...listMissingFacts(answer, names),
      ...listForbidden(
        answer,
        others.filter((name) => !names.includes(name)),
      ),
    ];
  },
};

export const readingTasks: readonly Task[] = [
  countStates,
  lateReviews,
  scoreTable,
  whoChanged,
  callBrief,
  unpaidFees,
  openWork,
  reviewerCandidates,
];
