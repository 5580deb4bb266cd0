import fc from "fast-check";
import { expect, inject, test } from "vitest";
import { newDatabase } from "../support/database/database.ts";
import { startProcess } from "../support/processes/processes.ts";
import { openTestServer, TestClock } from "../support/servers/test-server.ts";
import { type AccessRecord, checkAccesses, listAccesses } from "./accesses.ts";
import { callGroups } from "./calls.ts";
import { checkExportFiles } from "./export-files.ts";
import { followCursors, runGroups, startScenario } from "./run.ts";
import { createScenario } from "./scenario/scenario.ts";
import { readModel, readStore } from "./stored.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Number of requests that the model checks, in sequences that differ from run to run. By default few and the same. */
    readonly modelRequests: number | undefined;
  }
}

const environment = { PROGRAMME_REQUESTS_PER_MINUTE: "100000" };

/** Both processes have the same time. */
class SystemClock extends TestClock {
  override now(): Date {
    return new Date();
  }
}

test("any sequence of requests, of several tokens, tenants and processes at once, agrees with a reference model", async () => {
  const isLong = inject("modelRequests") !== undefined;
  const target = inject("modelRequests") ?? 5_000;
  const firstSeed = readSeed() ?? (isLong ? Date.now() % 2 ** 31 : 0);
  if (isLong) console.log(`TEST_SEED=${firstSeed} repeats these requests.`);
  const { database, remove } = await newDatabase();
  const { server, close } = await openTestServer(
    { ...environment, PROGRAMME_DATABASE: database },
    { clock: new SystemClock() },
  );
  const other = await startProcess(database, environment);
  const accesses: AccessRecord[] = [];
  let requests = 0;
  try {
    while (requests < target) {
      const property = fc.asyncProperty(callGroups, async (groups) => {
        const scenario = await createScenario(server, [server.origin, other.origin]);
        requests += await startScenario(scenario);
        requests += await runGroups(scenario, groups);
        requests += await followCursors(scenario);
        for (const [index, tenant] of scenario.tenants.entries()) {
          const stored = scenario.servers[index];
          if (!stored) continue;
          expect(await readStore(stored)).toEqual(readModel(tenant));
          await checkExportFiles(stored, tenant, scenario.tokens[index]?.[0] ?? "");
          accesses.push(listAccesses(stored, tenant));
        }
      });
      await fc.assert(property, { numRuns: 10, seed: firstSeed + requests, ...readReplay() });
    }
    // A process writes the last entries when it stops.
    await other.stop();
    await server.app.pipeline.flush();
    for (const each of accesses) await checkAccesses(each);
  } finally {
    await close();
    await other.stop();
    await remove();
  }
});

/**
 * Returns the seed that `TEST_SEED` gives.
 * @throws Error if it is not an integer that a seed can be
 */
function readSeed(): number | undefined {
  const { TEST_SEED: text } = process.env;
  if (text === undefined) return undefined;
  if (!/^\d{1,10}$/.test(text) || Number(text) >= 2 ** 31)
    throw new Error(`TEST_SEED must be an integer from 0 to ${2 ** 31 - 1}, such as 42, not "${text}".`);
  return Number(text);
}

/** Returns the seed and path that a failure has printed, to repeat it: `TEST_REPLAY='{"seed":1,"path":"0"}'`. */
function readReplay(): { seed?: number; path?: string } {
  return JSON.parse(process.env["TEST_REPLAY"] ?? "{}");
}
