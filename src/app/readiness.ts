import type { Clock } from "../lib/clock.ts";
import { waitAtMost } from "../lib/timeout.ts";
import { combineWorkerStates, type Worker } from "../lib/worker.ts";
import type { Store } from "../store/port.ts";
import type { Readiness } from "../transport/http/probes.ts";
import type { CircuitBreaker } from "../upstream/remote/circuit-breaker.ts";

export interface ReadinessDeps {
  readonly store: Pick<Store, "check" | "checkDisk">;
  readonly workers: readonly Worker[];
  /** @throws Error if there is none */
  readonly serverKey: () => unknown;
  readonly circuitBreaker: CircuitBreaker | undefined;
  readonly clock: Clock;
}

export interface ReadinessProbe {
  /** Checks whether requests can be served. Never rejects. */
  look(): Promise<Readiness>;
  /** Reports `draining` from now on. */
  drain(): void;
}

/** Results are cached for this long, because anyone may ask and each check queries the database. */
export const cacheMs = 1_000;
/** The time that the database may take to answer. */
const timeoutMs = 2_000;

/**
 * Reports whether requests should go to this process. The state of a remote service is reported but does not count: if
 * it fails for one process it fails for all, and a server that explains the failure is more useful than none.
 */
export function createReadiness(deps: ReadinessDeps): ReadinessProbe {
  let cached: { readonly readiness: Promise<Readiness>; readonly atMs: number } | undefined;
  let draining = false;
  return {
    async look() {
      const atMs = deps.clock.now().getTime();
      if (!cached || Math.abs(atMs - cached.atMs) >= cacheMs) cached = { readiness: checkReadiness(deps), atMs };
      const readiness = await cached.readiness;
      return draining ? { ...readiness, ready: false, status: "draining" } : readiness;
    },
    drain() {
      draining = true;
    },
  };
}

async function checkReadiness({ store, workers, serverKey, circuitBreaker }: ReadinessDeps): Promise<Readiness> {
  const state = combineWorkerStates(workers);
  const [database, disk] = await Promise.all([finishInTime(store.check()), finishInTime(store.checkDisk())]);
  const checks = {
    database: database || "failed",
    ...(disk === undefined ? {} : { disk: disk || "failing" }),
    workers: state,
    key: hasKey(serverKey) ? "ok" : "failed",
    ...(circuitBreaker ? { upstream: circuitBreaker.state() } : {}),
  };
  // Reads are answered while changes wait. A failing worker does not affect requests, but one that never started does.
  const answers = database === "ok" || database === "changes_wait";
  const isWritable = disk === undefined || disk === "ok";
  const ready = answers && isWritable && state !== "idle" && checks.key === "ok";
  return { ready, status: ready ? "ready" : "not_ready", checks };
}

/** Returns the result of a check; false if it fails or takes too long. */
function finishInTime<Result>(check: Promise<Result>): Promise<Result | false> {
  return waitAtMost(timeoutMs, check, false as const).catch(() => false as const);
}

function hasKey(serverKey: () => unknown): boolean {
  try {
    serverKey();
    return true;
  } catch {
    return false;
  }
}
