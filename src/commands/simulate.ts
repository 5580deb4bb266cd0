import { setTimeout as delay } from "node:timers/promises";
import type { App } from "../app/app.ts";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { splitInput } from "../contract/definition/operation.ts";
import { operations } from "../contract/index.ts";
import { createRandomPicker } from "../demo/random-picker.ts";
import { Season } from "../demo/season.ts";
import { calendar, type SeasonContext, type SeasonSize } from "../demo/season-context.ts";
import { planSeason } from "../demo/season-plan.ts";
import { createSeededRandom } from "../lib/crypto/random.ts";
import { createId } from "../lib/ids.ts";
import type { Store } from "../store/port.ts";
import { withApp } from "./open-app.ts";
import { print, printJson } from "./terminal/output.ts";
import { showProgress } from "./terminal/progress.ts";
import { onInterrupt } from "./terminal/signals.ts";
import { formatColumns } from "./terminal/table.ts";
import { chooseBusiness, issueToken, ordinaryScopes } from "./tokens/tokens.ts";

export interface SimulateOptions extends SeasonSize {
  readonly business: string | undefined;
  readonly seed: number;
  /** Days of the season in one real day. Undefined: as fast as possible. */
  readonly factor: number | undefined;
  readonly json: boolean;
}

const dayMs = 24 * 60 * 60 * 1000;
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
  const picker = createRandomPicker(createSeededRandom(seed));
  // Choices depend on the seed, but ids do not, so that a season can be simulated again on the same database.
  const random = Math.random;
  // At any speed, the call must stay open until the end of the season.
  const closesInDays = Math.ceil(calendar.ends / (factor ?? 1)) + 1;
  const plan = await planSeason({ store, content, businessId, now, random, picker, closesInDays });
  const expiresAt = new Date(now.getTime() + (closesInDays + 1) * dayMs).toISOString();
  const issued = await issueToken(store, { businessId, name: "simulation", scopes: ordinaryScopes, expiresAt });
  using interruption = onInterrupt("The season was stopped: what it has come to stays.");
  const stopping = interruption.signal;
  const progress = showProgress("Playing a season", calendar.ends);
  const context: SeasonContext = {
    reader: store.reader(businessId),
    async act(name, given) {
      stopping.throwIfAborted();
      return portalServices.portal.act(businessId, name, given);
    },
    async call(name, input) {
      stopping.throwIfAborted();
      const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
      const parts = splitInput(operations[name], given);
      const answer = await pipeline.execute({
        operation: name,
        token: issued.token,
        parts,
        requestId: createId("req"),
      });
      if (!answer.ok) throw answer.problem;
      return { data: answer.data as never, lastEvaluatedKey: answer.page?.lastEvaluatedKey };
    },
    async until(day) {
      progress.to(day);
      const waitMs = factor === undefined ? 0 : now.getTime() + (day * dayMs) / factor - Date.now();
      // Even at full speed, a pause lets the process receive signals.
      const pause = delay(Math.max(0, waitMs), undefined, { signal: stopping });
      await pause.catch(() => stopping.throwIfAborted());
    },
  };
  try {
    await new Season(context, plan, picker, options).play();
  } finally {
    progress.end();
    await store.revokeToken(issued.tokenId, new Date().toISOString());
  }
  return plan.programId;
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
