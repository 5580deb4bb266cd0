/**
 * Measures each workflow on a programme with 100,000 submissions under review, 200,000 assignments and 150,000 reviews
 * by 1,000 reviewers. Prints the time of a call, the memory that it adds, and the longest time that it kept other work
 * waiting. An argument sets another number of submissions: `bench/workflows.ts 5000`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type App, createApp } from "../src/app/app.ts";
import { issueToken } from "../src/commands/tokens/tokens.ts";
import { loadConfig } from "../src/config/load.ts";
import { scopes } from "../src/contract/access/scopes.ts";
import { type WorkflowName, workflowNames } from "../src/contract/index.ts";
import { createFactory, type Factory } from "../test/support/data/seed-factory.ts";

const submissions = Number(process.argv[2] ?? 100_000);
const reviewerCount = Math.max(10, submissions / 100);
const submissionsPerTransaction = 500;
const wantedSeconds = 2;
const businessId = "biz_bench";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

interface Target {
  readonly programId: string;
  readonly roundId: string;
  readonly submissionId: string;
}

const inputs: Readonly<Record<WorkflowName, (target: Target) => Readonly<Record<string, unknown>>>> = {
  find_duplicate_persons: () => ({}),
  search_records: () => ({ words: "roof school 777" }),
  get_review_progress: ({ programId }) => ({ programId }),
  get_score_table: ({ programId }) => ({ programId }),
  list_open_work: ({ programId }) => ({ programId }),
  get_submission_brief: ({ submissionId }) => ({ submissionId }),
  get_history: ({ programId }) => ({ programId }),
  list_reviewer_candidates: ({ programId, roundId, submissionId }) => ({
    programId,
    roundId,
    submissionIds: [submissionId],
  }),
};

const directory = mkdtempSync(join(tmpdir(), "programme-bench-"));
try {
  const config = loadConfig({
    PROGRAMME_DATABASE: join(directory, "bench.db"),
    PROGRAMME_REQUESTS_PER_MINUTE: "100000",
  });
  const app = await createApp(config);
  const target = await seed(app);
  const { token } = await issueToken(app.store, { businessId, name: "bench", scopes, expiresAt: null });
  const slow: string[] = [];
  for (const name of workflowNames) {
    const { seconds, cpuSeconds, addedMiB, longestTurnMs } = await measure(app, token, name, inputs[name](target));
    console.log(
      `${name.padEnd(28)} ${seconds.toFixed(2)} s (${cpuSeconds.toFixed(2)} s CPU), ${addedMiB.toFixed(0)} MiB more heap at most, ` +
        `longest turn ${longestTurnMs.toFixed(0)} ms`,
    );
    if (seconds > wantedSeconds) slow.push(name);
  }
  await app.close();
  if (slow.length > 0) console.log(`Slower than ${wantedSeconds} s: ${slow.join(", ")}`);
  process.exitCode = slow.length > 0 ? 1 : 0;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function seed(app: App): Promise<Target> {
  const { store } = app;
  const now = () => new Date().toISOString();
  await store.insertBusiness({ businessId, name: "Bench", createdAt: now() });
  const write = <R>(work: (factory: Factory) => Promise<R>) =>
    store.transaction({ businessId, actorId: "usr_bench", now: now() }, (tx) =>
      work(createFactory((each) => each(tx))),
    );
  const { round, track, reviewers } = await write(async (factory) => {
    const track = await factory.track();
    const round = await factory.round({ ...track, deadline: "2026-01-01T00:00:00.000Z" });
    const reviewers = [];
    for (let index = 0; index < reviewerCount; index += 1) {
      reviewers.push(await factory.reviewer({ programIds: [track.programId], roundIds: [round.roundId] }));
    }
    return { round, track, reviewers };
  });
  const { programId, roundId } = round;
  const { trackId } = track;
  let submissionId = "";
  for (let start = 0; start < submissions; start += submissionsPerTransaction) {
    await write(async (factory) => {
      for (let index = start; index < Math.min(submissions, start + submissionsPerTransaction); index += 1) {
        const fields = { fld_title: `Project ${index}`, fld_text: "A light roof for the school. ".repeat(40) };
        const given = {
          trackId,
          title: `Project ${index}`,
          state: "IN_REVIEW",
          currentRoundId: roundId,
          fields,
        } as const;
        ({ submissionId } = await factory.submission(given));
        for (const offset of [0, 1]) {
          const { reviewerId } = reviewers[(index * 2 + offset) % reviewers.length] ?? { reviewerId: "" };
          const home = { programId, roundId, submissionId, reviewerId };
          const isDone = index % 2 === offset;
          const status = isDone ? "completed" : "accepted";
          const assignment = await factory.assignment({ ...home, trackId, status, dueAt: round.deadline });
          if (!isDone && index % 2 === 0) continue;
          const { assignmentId } = assignment;
          const { rubricId } = round;
          const scored = {
            status: isDone ? "submitted" : "draft",
            totalScore: index % 21,
            weightedScore: index % 11,
          } as const;
          await factory.review({ ...home, assignmentId, rubricId, ...scored });
        }
      }
    });
  }
  return { programId, roundId, submissionId };
}

async function measure(app: App, token: string, name: WorkflowName, input: Readonly<Record<string, unknown>>) {
  const call = { operation: name, input, token, requestId: "req_bench" } as const;
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  let peak = before;
  const progress = async () => {
    peak = Math.max(peak, process.memoryUsage().heapUsed);
  };
  const turns = monitorEventLoopDelay({ resolution: 1 });
  turns.enable();
  const startCpu = process.cpuUsage();
  const startMs = performance.now();
  const answer = await app.upstream.call({ ...call, progress });
  const seconds = (performance.now() - startMs) / 1000;
  const { user, system } = process.cpuUsage(startCpu);
  await delay(5);
  turns.disable();
  if (!answer.ok) throw answer.problem;
  return {
    seconds,
    cpuSeconds: (user + system) / 1e6,
    addedMiB: (peak - before) / 2 ** 20,
    longestTurnMs: turns.max / 1e6,
  };
}
