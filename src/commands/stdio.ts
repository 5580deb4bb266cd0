import { setTimeout as delay } from "node:timers/promises";
import type { StartupHandshake } from "../app/startup.ts";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { stopSignals } from "./terminal/signals.ts";

/** Until the service is opened in any case, for the work that goes on there beside requests. */
const patienceMs = 250;

/** Serves MCP over stdin and stdout until the client goes away. The client is greeted before the service is open. */
export async function serveStdio(config: Config): Promise<void> {
  if (config.baseUrl !== undefined && config.token === undefined) {
    throw new UsageError("PROGRAMME_TOKEN is needed with PROGRAMME_BASE_URL: an access token of the product.");
  }
  const { startHandshake } = await import("../app/startup.ts");
  const wire = await startHandshake(config);
  if (wire && !(await waitUnlessStopped(isWanted(wire, config)))) return;
  const { serveConnection } = await import("./serve.ts");
  try {
    await serveConnection(config, wire);
  } catch (error) {
    await wire?.close();
    throw error;
  }
}

/** Waits, and ends in good order at the usual signals meanwhile: nothing is open yet. */
async function waitUnlessStopped<R>(waiting: Promise<R>): Promise<R> {
  const stop = () => process.exit(0);
  for (const signal of stopSignals) process.on(signal, stop);
  try {
    return await waiting;
  } finally {
    for (const signal of stopSignals) process.off(signal, stop);
  }
}

/** The product's own service goes on by itself: nothing needs to be opened for it before it is used. */
function isWanted({ wanted }: StartupHandshake, { baseUrl, metrics }: Config): Promise<boolean> {
  return baseUrl !== undefined && !metrics ? wanted : Promise.race([wanted, delay(patienceMs, true)]);
}
