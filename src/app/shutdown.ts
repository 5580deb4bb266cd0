import type { Worker } from "../lib/worker.ts";
import type { ProgramTelemetry } from "../telemetry/telemetry.ts";
import type { CallerCheck } from "./callers.ts";

interface Closable {
  close(): Promise<void>;
}

/** Everything that is open, as far as there is any of it. */
export interface OpenParts {
  readonly telemetry: ProgramTelemetry;
  /** How long calls under way may take to end. */
  readonly settleMs: number;
  readonly servers: readonly (Closable | undefined)[];
  readonly callerCheck: CallerCheck | undefined;
  readonly workers: readonly Worker[];
  /** What must outlast all of the above, in the order in which it is closed. */
  readonly last: readonly (Closable | undefined)[];
}

/** Takes nothing new, lets what is under way end as long as it may, and closes everything. */
export async function closeAll({ telemetry, settleMs, servers, callerCheck, workers, last }: OpenParts): Promise<void> {
  const closing = servers.map((server) => server?.close());
  const resting = workers.map((worker) => worker.stop());
  await telemetry.idle(settleMs);
  // Streams last as long as somebody listens; the servers wait for them.
  await callerCheck?.mcp.close();
  await callerCheck?.issuer?.close();
  await Promise.all([...closing, ...resting]);
  for (const each of last) await each?.close();
  await telemetry.close();
}
