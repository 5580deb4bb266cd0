import type { Config } from "../config/load.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { createLogger, type Log } from "../lib/log.ts";
import type { Telemetry } from "../lib/telemetry.ts";
import { openStore } from "../store/open.ts";
import type { Store } from "../store/port.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ProgramTelemetry } from "../telemetry/telemetry.ts";
import { getStoreOptions } from "./database.ts";
import { connectTelemetry } from "./telemetry/telemetry.ts";

/** Services and options that most parts of the program need. */
export interface CoreServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly telemetry: Telemetry;
}

interface OpenedServices extends CoreServices {
  readonly telemetry: ProgramTelemetry;
}

/** Dependencies that no setting configures. Tests replace the clock and the log. */
export interface AppOptions {
  readonly clock?: Clock | undefined;
  readonly log?: Log | undefined;
  /** Longest wait for a database server that does not answer yet. */
  readonly databaseWaitMs?: number | undefined;
}

/** Opens the log, the telemetry and the store; `metrics` is set if metrics are configured. */
export async function openCoreServices(
  config: Config,
  options: AppOptions,
): Promise<{ readonly services: OpenedServices; readonly metrics: Metrics | undefined }> {
  const { clock = systemClock, databaseWaitMs: waitMs = 0 } = options;
  const log = options.log ?? (await createLogger({ level: config.logLevel, format: config.logFormat }));
  const { telemetry, metrics } = await connectTelemetry(config.metrics !== undefined, process.env, log);
  const store = await openStore({ ...getStoreOptions(config), waitMs, log, telemetry });
  return { services: { store, clock, log, telemetry }, metrics };
}
