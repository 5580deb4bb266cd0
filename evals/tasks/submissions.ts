import type { ExportJob } from "../../src/contract/exports.ts";
import type { Feedback } from "../../src/contract/feedback.ts";
import type { Submission } from "../../src/contract/submissions.ts";
import { listChangeErrors, listDifference, listMissingFacts } from "../harness/checks.ts";
import { findProgram, findRound, findTrack, listSubmissions, listUnreleased, readField } from "../harness/records.ts";
import type { Task } from "../harness/task.ts";
import type { World } from "../harness/world.ts";

/** Returns the ids of the submissions of a track that are in a state. */
export async function listIdsInState({ rest }: World, trackName: string, state: string): Promise<string[]> {
  const { trackId } = await findTrack(rest, trackName);
  return (await listSubmissions(rest, { trackId, state })).map(({ submissionId }) => submissionId);
}

export async function loadSubmission({ rest }: World, submissionId: string): Promise<Submission> {
  return rest.get<Submission>(`/submissions/${submissionId}`);
}

const ceiling = 40_000;

const screenTrack: Task = {
  name: "screen-track",
  kind: "writing",
  prompt:
    "Please screen the new applications of Community projects in the Common Ground Fund 2026. Whoever asks for at most EUR 40,000 is eligible; the others are ineligible, with the reason “Above the ceiling of EUR 40,000”. Tell me how many are eligible and how many are not.",
  limits: { calls: 10, bytes: 20_000 },
  prepare: async (world) => ({ subjects: await listIdsInState(world, "Community projects", "SUBMITTED") }),
  async check({ world, subjects, answer }) {
    const submissions = await Promise.all(subjects.map((id) => loadSubmission(world, id)));
    const states = submissions.map(async (submission) => {
      const amount = Number(await readField(world.rest, submission, "requested_amount"));
      return listDifference(submission.submissionId, submission.state, amount > ceiling ? "INELIGIBLE" : "ELIGIBLE");
    });
    const count = (state: string) => submissions.filter((submission) => submission.state === state).length;
    return [
      ...(await Promise.all(states)).flat(),
      ...(await listChangeErrors(world, { submission: subjects })),
      ...listMissingFacts(answer, [count("ELIGIBLE"), count("INELIGIBLE")]),
    ];
  },
};

const advanceEligible: Task = {
  name: "advance-eligible",
  kind: "writing",
  prompt: "Move every eligible application of Enterprise pilots (Common Ground Fund 2026) on to the first reading.",
  limits: { calls: 8, bytes: 12_000 },
  prepare: async (world) => ({ subjects: await listIdsInState(world, "Enterprise pilots", "ELIGIBLE") }),
  async check({ world, subjects }) {
    const { roundId } = await findRound(world.rest, "Enterprise pilots", "First reading");
    const submissions = await Promise.all(subjects.map((id) => loadSubmission(world, id)));
    return [
      ...submissions.flatMap(({ submissionId, currentRoundId }) =>
        listDifference(`The round of ${submissionId}`, currentRoundId, roundId),
      ),
      ...(await listChangeErrors(world, { submission: subjects })),
    ];
  },
};

const releaseFeedback: Task = {
  name: "release-feedback",
  kind: "writing",
  prompt:
    "The feedback for the finalists of the Common Ground Fund 2026 is written. Release it to them. Nobody else gets anything today.",
  limits: { calls: 8, bytes: 20_000 },
  async prepare({ rest }) {
    const finalists = await listSubmissions(rest, { state: "FINALIST" });
    return { subjects: finalists.map(({ submissionId }) => submissionId) };
  },
  async check({ world, subjects }) {
    const { programId } = await findProgram(world.rest);
    const released = await world.rest.list<Feedback>(`/feedback/released?programId=${programId}`);
    const ofFinalists = released.filter(({ submissionId }) => subjects.includes(submissionId));
    const feedback = ofFinalists.map(({ feedbackId }) => feedbackId);
    return [
      ...listDifference("The number of finalists with feedback", ofFinalists.length, subjects.length),
      ...(await listChangeErrors(world, { feedback }, ["email_send"])),
    ];
  },
};

const extendRound: Task = {
  name: "extend-round",
  kind: "writing",
  prompt:
    "Give the reviewers of the first reading in Community projects (Common Ground Fund 2026) a week more: the deadline moves by seven days, and so does the end of the round.",
  limits: { calls: 5, bytes: 8_000 },
  async prepare({ rest }) {
    const { roundId, deadline, endDate } = await findRound(rest, "Community projects", "First reading");
    return { subjects: [roundId, String(deadline), String(endDate)] };
  },
  async check({ world, subjects: [roundId = "", ...dates] }) {
    const { deadline, endDate } = await findRound(world.rest, "Community projects", "First reading");
    const expected = dates.map((date) => new Date(Date.parse(date) + 7 * 86_400_000).toISOString());
    return [
      ...listDifference("The round's deadline and end", [deadline, endDate], expected),
      ...(await listChangeErrors(world, { round: [roundId] }, ["assignment"])),
    ];
  },
};

const exportWinners: Task = {
  name: "export-winners",
  kind: "writing",
  prompt:
    "The auditors want a file with the winners of Enterprise pilots in the Common Ground Fund 2026, and only those. Make the export, and tell me when the file is there.",
  limits: { calls: 6, bytes: 8_000 },
  async check({ world, answer }) {
    const { trackId } = await findTrack(world.rest, "Enterprise pilots");
    const ids = (await world.listAgentChanges()).flatMap(({ entityType, entityId }) =>
      entityType === "export" && entityId ? [entityId] : [],
    );
    const [job] = await Promise.all([...new Set(ids)].map((id) => world.rest.get<ExportJob>(`/exports/${id}`)));
    return [
      ...listDifference(
        "The export",
        [job?.status, job?.trackId, job?.filters.state],
        ["completed", trackId, "WINNER"],
      ),
      ...(await listChangeErrors(world, { export: ids.slice(0, 1) })),
      ...listMissingFacts(answer, [["completed", "ready", "is there"]]),
    ];
  },
};

const lastProgram = "Common Ground Fund 2025";

const closeProgram: Task = {
  name: "close-program",
  kind: "writing",
  prompt: `We want to close the ${lastProgram}: mark it as completed. Feedback that is written there but was never released goes out first.`,
  limits: { calls: 8, bytes: 20_000 },
  async prepare({ rest }) {
    const { programId, version } = await findProgram(rest, lastProgram);
    await rest.send("PATCH", `/programs/${programId}`, { version, lifecycleStatus: "underway" });
    return { subjects: await listUnreleased(rest, programId) };
  },
  async check({ world, subjects }) {
    const { programId, lifecycleStatus } = await findProgram(world.rest, lastProgram);
    return [
      ...listDifference("The programme", lifecycleStatus, "completed"),
      ...(await listChangeErrors(world, { program: [programId], feedback: subjects }, ["email_send"])),
    ];
  },
};

export const submissionTasks: readonly Task[] = [
  screenTrack,
  advanceEligible,
  releaseFeedback,
  extendRound,
  exportWinners,
  closeProgram,
];
