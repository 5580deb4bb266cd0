import type { Program } from "../../src/contract/programs.ts";
import { listChangeErrors, listDifference, listMissingFacts } from "../harness/checks.ts";
import { chooseSubmission, findProgram, findRound, listAssignments } from "../harness/records.ts";
import type { Preparation, Task } from "../harness/task.ts";
import { listIdsInState, loadSubmission } from "./submissions.ts";

const description = "Grants for community projects and for pilots of small enterprises. Two tracks, three readings.";

/** Lets a colleague do something once: before the first call that looks like a change of the kind. */
function interfereOnce(kind: RegExp, work: () => Promise<unknown>): NonNullable<Preparation["interfere"]> {
  let isDone = false;
  return async (call) => {
    if (isDone || !kind.test(call)) return;
    isDone = true;
    await work();
  };
}

const colleagueEndDate = "2027-05-31T00:00:00.000Z";

const concurrentEdit: Task = {
  name: "concurrent-edit",
  kind: "conflict",
  prompt: `Please set the description of the Common Ground Fund 2026 to: “${description}” Leave everything else as it is.`,
  limits: { calls: 6, bytes: 12_000 },
  async prepare({ rest }) {
    const { programId, version } = await findProgram(rest);
    const interfere = interfereOnce(/(update|patch)\w*program/i, () =>
      rest.send<Program>("PATCH", `/programs/${programId}`, { version, endDate: colleagueEndDate }),
    );
    return { subjects: [programId], interfere };
  },
  async check({ world, subjects }) {
    const program = await findProgram(world.rest);
    return [
      ...listDifference("The programme", [program.description, program.endDate], [description, colleagueEndDate]),
      ...(await listChangeErrors(world, { program: subjects })),
    ];
  },
};

const withdrawnByColleague: Task = {
  name: "withdrawn-by-colleague",
  kind: "conflict",
  prompt: "Screen “{title}” (Common Ground Fund 2026) as eligible.",
  limits: { calls: 6, bytes: 10_000 },
  async prepare({ rest }) {
    const { title, submissionId, version } = await chooseSubmission(rest, { state: "SUBMITTED" });
    const interfere = interfereOnce(/screen/i, () =>
      rest.send("POST", `/submissions/${submissionId}/withdraw`, { version, reason: "Funded elsewhere" }),
    );
    return { names: { title }, subjects: [submissionId], interfere };
  },
  async check({ world, subjects: [submissionId = ""], answer }) {
    const { state } = await loadSubmission(world, submissionId);
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
  prepare: async (world) => ({ subjects: await listIdsInState(world, "Enterprise pilots", "SUBMITTED") }),
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
