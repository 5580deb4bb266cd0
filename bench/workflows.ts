/**
 * Measures each workflow on a programme with 100,000 submissions under review, 200,000 assignments and 150,000 reviews
 * by 1,000 reviewers, beside 100,000 persons and 400,000 audit entries. Prints the time of a call, the memory that it
 * adds, and the longest time that it kept other work waiting. Arguments set other numbers of submissions, persons and
 * audit entries: `bench/workflows.ts 5000 100000 50000`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { issueToken } from "../src/app/access/issue-token.ts";
import { type App, createApp } from "../src/app/app.ts";
import { loadConfig } from "../src/config/load.ts";
import { scopes } from "../src/contract/access/scopes.ts";
import { type WorkflowName, workflowNames } from "../src/contract/index.ts";
import { seedWorld, type Target } from "./workflows/world.ts";

const [submissions = 100_000, persons = 100_000, auditEntries = 400_000] = process.argv.slice(2).map(Number);
const wantedSeconds = 2;
const businessId = "biz_bench";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

type Inputs = Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[];

const inputs: Readonly<Record<WorkflowName, (target: Target) => Inputs>> = {
  find_duplicate_persons: () => ({}),
  search_records: () => ({ words: "roof school 777" }),
  get_review_progress: ({ programId }) => ({ programId }),
  get_score_table: ({ programId }) => ({ programId }),
  list_open_work: ({ programId }) => ({ programId }),
  get_submission_brief: ({ submissionId }) => ({ submissionId }),
  get_history: ({ programId, submissionId, middle }) => [
    { programId },
    { recordId: submissionId },
    { recordId: "sub_none" },
    { programId, to: middle },
  ],
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
  const target = await seedWorld(app.store, businessId, { submissions, persons, auditEntries });
  const { token } = await issueToken(app.store, { businessId, name: "bench", scopes, expiresAt: null });
  const slow: string[] = [];
  for (const name of workflowNames) {
    for (const input of [inputs[name](target)].flat()) {
      const { seconds, cpuSeconds, addedMiB, longestTurnMs } = await measure(app, token, name, input);
      const title = `${name} ${Object.keys(input).join(" ")}`;
      console.log(
        `${title.padEnd(44)} ${seconds.toFixed(2)} s (${cpuSeconds.toFixed(2)} s CPU), ${addedMiB.toFixed(0)} MiB more at most, ` +
          `longest turn ${longestTurnMs.toFixed(0)} ms`,
      );
      if (seconds > wantedSeconds) slow.push(title);
    }
  }
  await app.close();
  if (slow.length > 0) console.log(`Slower than ${wantedSeconds} s: ${slow.join(", ")}`);
  process.exitCode = slow.length > 0 ? 1 : 0;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function measure(app: App, token: string, name: WorkflowName, input: Readonly<Record<string, unknown>>) {
  const call = { operation: name, input, token, requestId: "req_bench" } as const;
  collectGarbage();
  const before = measureMemory();
  let peak = before;
  const progress = async () => {
    peak = Math.max(peak, measureMemory());
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

function measureMemory(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
