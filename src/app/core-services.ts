import type { Config } from "../config/load.ts";
import type { Clock } from "../lib/clock.ts";
import { createLogger, type Log } from "../lib/log.ts";
import type { Telemetry } from "../lib/telemetry.ts";
import { openStore } from "../store/open.ts";
import type { Store } from "../store/port.ts";
import { getStoreOptions } from "./database.ts";
import { connectTelemetry, type TelemetryParts } from "./telemetry.ts";

/** What every part of the program is made with. */
export interface CoreServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly telemetry: Telemetry;
}

export interface LocalOptions {
  readonly clock: Clock;
  readonly log?: Log | undefined;
  /** How long a database server that is not there yet is waited for. */
  readonly databaseWaitMs?: number | undefined;
}

export async function openCoreServices(config: Config, options: LocalOptions): Promise<CoreServices & TelemetryParts> {
  const { clock, databaseWaitMs: waitMs = 0 } = options;
  const log = options.log ?? (await createLogger({ level: config.logLevel, format: config.logFormat }));
  const watching = await connectTelemetry(config.metrics !== undefined, process.env, log);
  const store = await openStore({ ...getStoreOptions(config), waitMs, log, telemetry: watching.telemetry });
  return { store, clock, log, ...watching };
}
