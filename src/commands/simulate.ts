import { setTimeout as delay, setImmediate } from "node:timers/promises";
import { issueToken } from "../app/access/issue-token.ts";
import type { App } from "../app/app.ts";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { ordinaryScopes } from "../contract/access/scopes.ts";
import { splitInput } from "../contract/definition/operation.ts";
import { operations } from "../contract/index.ts";
import { storeDocuments } from "../demo/documents.ts";
import { RandomPicker } from "../demo/random-picker.ts";
import { createSeasonPlan, type SeasonSize, seasonDays } from "../demo/season.ts";
import { planTenant } from "../demo/tenant.ts";
import { dayMs, type TimelineClock } from "../demo/timeline.ts";
import { createRandomToken } from "../lib/crypto/crypto.ts";
import { createSeededRandom } from "../lib/crypto/random.ts";
import { createId } from "../lib/ids.ts";
import type { Store } from "../store/port.ts";
import { withApp } from "./open-app.ts";
import { print, printJson } from "./terminal/output.ts";
import { showProgress } from "./terminal/progress.ts";
import { onInterrupt } from "./terminal/signals.ts";
import { formatColumns } from "./terminal/table.ts";
import { chooseBusiness } from "./tokens/tokens.ts";

export interface SimulateOptions extends SeasonSize {
  readonly business: string | undefined;
  readonly seed: number;
  /** Days of the season in one real day. Undefined: as fast as possible. */
  readonly factor: number | undefined;
  readonly json: boolean;
}

/** High enough that the simulation's own token is never rate-limited. */
const requestsPerMinute = 1_000_000;

/**
 * Simulates a season on the configured database, through portal actions and operations, and prints the number of
 * events.
 */
export async function runSimulation(config: Config, options: SimulateOptions): Promise<void> {
  await withApp({ ...config, requestsPerMinute }, async (app) => {
    const businessId = await chooseBusiness(app.store, options.business);
    const from = await app.store.outbox.lastPosition(businessId);
    const startedMs = performance.now();
    const programId = await playSeason(app, businessId, options);
    const seconds = (performance.now() - startedMs) / 1000;
    const events = await countEvents(app.store, businessId, from);
    show({ programId, businessId, seconds: Math.round(seconds * 10) / 10, events }, options.json);
  });
}

async function playSeason(app: App, businessId: string, options: SimulateOptions): Promise<string> {
  const { store, content, pipeline, portalServices } = app;
  if (!portalServices) throw new UsageError("`simulate` needs the embedded service: unset PROGRAMME_BASE_URL");
  const { seed, factor } = options;
  const now = new Date();
  // Choices depend on the seed, but ids do not, so that a season can be simulated again on the same database.
  const picker = new RandomPicker(createSeededRandom(seed));
  const documents = await storeDocuments(content);
  const expiresAt = new Date(now.getTime() + (seasonDays / (factor ?? seasonDays) + 2) * dayMs).toISOString();
  const issued = await issueToken(store, { businessId, name: "simulation", scopes: ordinaryScopes, expiresAt });
  using interruption = onInterrupt("The season was stopped: what it has come to stays.");
  const { signal } = interruption;
  const progress = showProgress("Playing a season", 1);
  const season = planTenant(createSeasonPlan(options, picker), {
    store,
    ...{ now, picker, documents, newId: createId, newSecret: createRandomToken, suppressMail: true },
    caller: { businessId, tokenId: issued.tokenId, scopes: new Set(ordinaryScopes) },
    staff: { actorType: "user", actorId: "simulation" },
    clock: createSeasonClock(now, factor, signal),
    async callOperation(name, given) {
      const parts = splitInput(operations[name], given);
      const answer = await pipeline.execute({
        operation: name,
        token: issued.token,
        parts,
        requestId: createId("req"),
      });
      if (!answer.ok) throw answer.problem;
      return answer.data;
    },
  });
  try {
    await season.timeline.run(async (share) => {
      progress.to(share);
      // Even at full speed, a pause lets the process receive signals.
      await setImmediate();
      signal.throwIfAborted();
    });
  } finally {
    progress.end();
    await store.revokeToken(issued.tokenId, new Date().toISOString());
  }
  return season.tracks[0]?.program.programId ?? "";
}

/** Creates a clock that shows the present and waits for each day of the season, or does not wait. */
function createSeasonClock(now: Date, factor: number | undefined, signal: AbortSignal): TimelineClock {
  const startMs = Math.floor(now.getTime() / dayMs) * dayMs;
  return {
    now: () => new Date(),
    advance: () => undefined,
    async moveTo(timeMs) {
      const waitMs = factor === undefined ? 0 : now.getTime() + (timeMs - startMs) / factor - Date.now();
      await delay(Math.max(0, waitMs), undefined, { signal }).catch(() => signal.throwIfAborted());
    },
  };
}

const eventsPerStep = 1_000;

/** Counts the organisation's events after a position by type. */
async function countEvents(store: Store, businessId: string, after: number): Promise<Record<string, number>> {
  const counts = new Map<string, number>();
  for (let before: number | undefined; ; ) {
    const events = await store.outbox.eventsBefore(businessId, before, eventsPerStep);
    const own = events.filter(({ position }) => position > after);
    for (const { eventType } of own) counts.set(eventType, (counts.get(eventType) ?? 0) + 1);
    before = events.at(-1)?.position;
    if (before === undefined || own.length < events.length) break;
  }
  return Object.fromEntries([...counts].toSorted(([a], [b]) => a.localeCompare(b)));
}

interface Summary {
  readonly programId: string;
  readonly businessId: string;
  readonly seconds: number;
  readonly events: Readonly<Record<string, number>>;
}

function show(summary: Summary, json: boolean): void {
  if (json) {
    printJson(summary);
    return;
  }
  const { events, programId, seconds } = summary;
  const all = Object.values(events).reduce((sum, count) => sum + count, 0);
  const rows = [...Object.entries(events), ["all", all] as const].map(([type, count]) => [type, String(count)]);
  print(`Programme ${programId}, played in ${seconds} s.\n`);
  print(formatColumns([["event", "count"], ...rows], "header"));
}
