import type { Clock } from "../lib/clock.ts";
import { combineWorkerStates, type Worker } from "../lib/worker.ts";
import type { Store } from "../store/port.ts";
import type { Readiness } from "../transport/http/probes.ts";
import type { CircuitBreaker } from "../upstream/remote/circuit-breaker.ts";

export interface ReadinessDeps {
  readonly store: Pick<Store, "check" | "hasRoom">;
  readonly workers: readonly Worker[];
  /** @throws Error when there is none */
  readonly serverKey: () => unknown;
  readonly circuitBreaker: CircuitBreaker | undefined;
  readonly clock: Clock;
}

export interface ReadinessProbe {
  /** Never rejects. */
  look(): Promise<Readiness>;
  /** From now on nothing new should come. */
  drain(): void;
}

/** How long a look is good for: anybody may ask, and each look asks the database. */
export const goodForMs = 1_000;
/** How long the database may take to answer. */
const patienceMs = 2_000;

/**
 * Whether requests should come here. What the product's service does is told and does not count: if it is down for one
 * process it is for all, and a server that answers what is wrong is of more use than none.
 */
export function createReadiness(deps: ReadinessDeps): ReadinessProbe {
  let seen: { readonly readiness: Promise<Readiness>; readonly atMs: number } | undefined;
  let draining = false;
  return {
    async look() {
      const atMs = deps.clock.now().getTime();
      if (!seen || Math.abs(atMs - seen.atMs) >= goodForMs) seen = { readiness: lookAt(deps), atMs };
      const readiness = await seen.readiness;
      return draining ? { ...readiness, ready: false, status: "draining" } : readiness;
    },
    drain() {
      draining = true;
    },
  };
}

async function lookAt({ store, workers, serverKey, circuitBreaker }: ReadinessDeps): Promise<Readiness> {
  const state = combineWorkerStates(workers);
  const [database, hasRoom] = await Promise.all([finishInTime(store.check()), finishInTime(store.hasRoom())]);
  const checks = {
    database: database || "failed",
    ...(hasRoom === undefined ? {} : { disk: hasRoom ? "ok" : "full" }),
    workers: state,
    key: hasKey(serverKey) ? "ok" : "failed",
    ...(circuitBreaker ? { upstream: circuitBreaker.state() } : {}),
  };
  // Where changes wait, reads are answered all the same. A worker that fails does no harm to requests; that it never
  // began does.
  const answers = database === "ok" || database === "changes_wait";
  const ready = answers && checks.disk !== "full" && state !== "idle" && checks.key === "ok";
  return { ready, status: ready ? "ready" : "not_ready", checks };
}

/** What is found out; false where that fails or takes too long. */
async function finishInTime<Found>(finding: Promise<Found>): Promise<Found | false> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, patienceMs, false);
  });
  const found = finding.catch(() => false as const);
  const outcome = await Promise.race([found, late]);
  clearTimeout(timer);
  return outcome;
}

function hasKey(serverKey: () => unknown): boolean {
  try {
    serverKey();
    return true;
  } catch {
    return false;
  }
}
