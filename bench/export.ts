/**
 * Measures exports of 1,000, 10,000 and 100,000 submissions, each with a review, an assignment with an attestation and
 * an applicant. Prints rows per second, the size of the file, and the peak memory of the process, which is bounded at
 * any volume. Arguments set other volumes: `bench/export.ts 500 5000`.
 */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueToken } from "../src/app/access/issue-token.ts";
import { createApp } from "../src/app/app.ts";
import { loadConfig } from "../src/config/load.ts";
import { scopes } from "../src/contract/access/scopes.ts";
import { createFactory } from "../test/support/data/seed-factory.ts";

const usual = [1_000, 10_000, 100_000];
/** Limit for the peak memory of an export, including its process. */
const maxPeakMiB = 320;
const batchRows = 500;

interface Measured {
  readonly seconds: number;
  readonly sizeBytes: number;
  readonly peakRssMiB: number;
  readonly idleRssMiB: number;
  /** The longest time that the export blocked other work. */
  readonly longestTurnMs: number;
}

const [mode, ...rest] = process.argv.slice(2);
if (mode === "work") await work(rest[0] ?? "");
else await main(mode === undefined ? usual : [mode, ...rest].map(Number));

async function main(volumes: readonly number[]): Promise<void> {
  const peaks: number[] = [];
  for (const submissions of volumes) {
    const directory = mkdtempSync(join(tmpdir(), "programme-bench-"));
    try {
      const database = join(directory, "bench.db");
      const rows = await seed(database, submissions);
      const { seconds, sizeBytes, peakRssMiB, idleRssMiB, longestTurnMs } = await measure(database);
      peaks.push(peakRssMiB);
      const rate = Math.round(rows / seconds).toLocaleString("en");
      const file = (sizeBytes / 2 ** 20).toFixed(1);
      console.log(
        `${submissions.toLocaleString("en")} submissions, ${rows.toLocaleString("en")} rows: ${seconds.toFixed(2)} s, ` +
          `${rate} rows/s, ${file} MiB, peak RSS ${peakRssMiB.toFixed(0)} MiB (idle ${idleRssMiB.toFixed(0)}), ` +
          `longest turn ${longestTurnMs.toFixed(0)} ms`,
      );
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  const peakMiB = Math.max(...peaks);
  console.log(`highest peak: ${peakMiB.toFixed(0)} MiB (wanted: at most ${maxPeakMiB}, whatever the volume)`);
  if (peakMiB > maxPeakMiB) process.exitCode = 1;
}

/** Fills a database and requests an export. Returns the number of its rows. */
async function seed(database: string, submissions: number): Promise<number> {
  const app = await createApp(configOf(database));
  const businessId = "biz_bench";
  const now = new Date().toISOString();
  await app.store.insertBusiness({ businessId, name: "Bench", createdAt: now });
  const actor = { businessId, actorId: "bench", now };
  const plain = createFactory((run) => app.store.transaction(actor, run));
  const { programId, trackId } = await plain.track();
  const round = await plain.round({ programId, trackId });
  const { roundId } = round;
  const reviewers = await Promise.all(Array.from({ length: 50 }, () => plain.reviewer({ programIds: [programId] })));
  const text = "What is planned, why it is needed, who takes part and what will be there when it is done. ".repeat(5);
  for (let from = 0; from < submissions; from += batchRows) {
    await app.store.transaction(actor, async (transaction) => {
      const seed = createFactory((run) => run(transaction));
      for (let index = from; index < Math.min(submissions, from + batchRows); index++) {
        const email = `applicant${index}@example.org`;
        const { applicantId } = await seed.applicant({ email, programIds: [programId], trackIds: [trackId] });
        const fields = { fld_title: `Project ${index}`, fld_summary: text };
        const { submissionId } = await seed.submission({
          trackId,
          applicantId,
          innovatorEmail: email,
          state: "IN_REVIEW",
          fields,
        });
        const { reviewerId } = reviewers[index % reviewers.length] ?? { reviewerId: "" };
        const seat = { programId, trackId, roundId, submissionId, reviewerId };
        const conflictAttestation = { hasConflict: false, statement: "None that I know of", attestedAt: now };
        const { assignmentId } = await seed.assignment({ ...seat, status: "completed", conflictAttestation });
        await seed.review({ programId, roundId, submissionId, reviewerId, assignmentId, overallComment: text });
      }
    });
  }
  const issued = await issueToken(app.store, { businessId, name: "bench", scopes, expiresAt: null });
  await plain.exportJob({ programId, tokenId: issued.tokenId, scopes: [...scopes] });
  await app.close();
  return 4 * submissions + reviewers.length;
}

/** Runs in a process of its own, because memory is measured by process. */
function measure(database: string): Promise<Measured> {
  return new Promise((resolve, reject) => {
    const child = fork(new URL(import.meta.url), ["work", database]);
    child.once("message", (measured) => resolve(measured as Measured));
    child.once("exit", (code) => reject(new Error(`The worker ended with ${code}`)));
  });
}

async function work(database: string): Promise<void> {
  const app = await createApp(configOf(database));
  const idleRssMiB = process.memoryUsage.rss() / 2 ** 20;
  let longestTurnMs = 0;
  let lastMs = performance.now();
  const ticking = setInterval(() => {
    longestTurnMs = Math.max(longestTurnMs, performance.now() - lastMs - 1);
    lastMs = performance.now();
  }, 1);
  const startedMs = performance.now();
  await app.exports?.step();
  const seconds = (performance.now() - startedMs) / 1000;
  clearInterval(ticking);
  const [job] = await app.store.reader("biz_bench").find("exports", {}, { limit: 1 });
  if (job?.status !== "completed") throw new Error(`The export is ${job?.status}: ${job?.errorCode}`);
  const peakRssMiB = process.resourceUsage().maxRSS / 1024;
  process.send?.({ seconds, sizeBytes: job.sizeBytes ?? 0, peakRssMiB, idleRssMiB, longestTurnMs });
  await app.close();
  process.disconnect();
}

function configOf(database: string) {
  return loadConfig({ PROGRAMME_DATABASE: database, PROGRAMME_LOG_LEVEL: "warn" });
}
