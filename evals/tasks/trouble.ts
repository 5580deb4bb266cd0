import type { Program } from "../../src/contract/programs.ts";
import { listChangeErrors, listDifference, listMissingFacts } from "../harness/checks.ts";
import { findProgram, findRound, findSubmission, listAssignments } from "../harness/records.ts";
import type { Task } from "../harness/task.ts";
import type { World } from "../harness/world.ts";
import { listIdsInState, loadSubmission } from "./submissions.ts";

const description = "Grants for community projects and for pilots of small enterprises. Two tracks, three readings.";

/** Lets a colleague do something once: before the first call that looks like a change of the kind. */
function interfereOnce(kind: RegExp, work: (world: World) => Promise<void>): NonNullable<Task["interfere"]> {
  const done = new WeakSet<World>();
  return async (world, call) => {
    if (done.has(world) || !kind.test(call)) return;
    done.add(world);
    await work(world);
  };
}

const colleagueEndDate = "2027-05-31T00:00:00.000Z";

const concurrentEdit: Task = {
  name: "concurrent-edit",
  kind: "conflict",
  prompt: `Please set the description of the Common Ground Fund 2026 to: “${description}” Leave everything else as it is.`,
  limits: { calls: 6, bytes: 12_000 },
  async prepare({ rest }) {
    return [(await findProgram(rest)).programId];
  },
  interfere: interfereOnce(/(update|patch)\w*program/i, async ({ rest }) => {
    const { programId, version } = await findProgram(rest);
    await rest.send<Program>("PATCH", `/programs/${programId}`, { version, endDate: colleagueEndDate });
  }),
  async check({ world, subjects }) {
    const program = await findProgram(world.rest);
    return [
      ...listDifference("The programme", [program.description, program.endDate], [description, colleagueEndDate]),
      ...(await listChangeErrors(world, { program: subjects })),
    ];
  },
};

const screenedTitle = "Shared batteries for the balconies of Montclar";

const withdrawnByColleague: Task = {
  name: "withdrawn-by-colleague",
  kind: "conflict",
  prompt: `Screen “${screenedTitle}” (Common Ground Fund 2026, Community projects) as eligible.`,
  limits: { calls: 6, bytes: 10_000 },
  interfere: interfereOnce(/screen/i, async ({ rest }) => {
    const { submissionId, version } = await findSubmission(rest, screenedTitle);
    const body = { version, reason: "Funded elsewhere" };
    await rest.send("POST", `/submissions/${submissionId}/withdraw`, body);
  }),
  async check({ world, answer }) {
    const { state } = await findSubmission(world.rest, screenedTitle);
    return [
      ...listDifference("The state", state, "WITHDRAWN"),
      ...(await listChangeErrors(world, {})),
      ...listMissingFacts(answer, ["withdrawn"]),
    ];
  },
};

const flakyProgress: Task = {
  name: "flaky-progress",
  kind: "flaky upstream",
  flaky: true,
  prompt:
    "How far is the first reading of Enterprise pilots (Common Ground Fund 2026)? How many reviews are completed, and how many are open (assigned, accepted or in conflict)?",
  limits: { calls: 8, bytes: 20_000 },
  async check({ world, answer }) {
    const { roundId } = await findRound(world.rest, "Enterprise pilots", "First reading");
    const completed = await listAssignments(world.rest, { roundId, status: "completed" });
    const open = await listAssignments(world.rest, { roundId, status: "incomplete" });
    return listMissingFacts(answer, [completed.length, open.length]);
  },
};

const flakyScreening: Task = {
  name: "flaky-screening",
  kind: "flaky upstream",
  flaky: true,
  prompt:
    "All new applications of Enterprise pilots (Common Ground Fund 2026) are eligible. Please screen them as that.",
  limits: { calls: 10, bytes: 15_000 },
  prepare: (world) => listIdsInState(world, "Enterprise pilots", "SUBMITTED"),
  async check({ world, subjects }) {
    const submissions = await Promise.all(subjects.map((id) => loadSubmission(world, id)));
    const screenings = (await world.listAgentChanges()).filter(({ action }) => action === "submission.screened");
    return [
      ...submissions.flatMap(({ submissionId, state }) => listDifference(submissionId, state, "ELIGIBLE")),
      ...listDifference("The number of screenings", screenings.length, subjects.length),
      ...(await listChangeErrors(world, { submission: subjects })),
    ];
  },
};

export const troubleTasks: readonly Task[] = [concurrentEdit, withdrawnByColleague, flakyProgress, flakyScreening];
