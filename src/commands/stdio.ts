import type { StartupHandshake } from "../app/startup.ts";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { waitAtMost } from "../lib/timeout.ts";
import { stopSignals } from "./terminal/signals.ts";

/** After this time, the embedded service is opened even without a call, for its background work. */
const startupWaitMs = 250;

/** Serves MCP over stdin and stdout until the client disconnects. Answers the handshake before the service is open. */
export async function serveStdio(config: Config): Promise<void> {
  if (config.baseUrl !== undefined && config.token === undefined) {
    throw new UsageError("PROGRAMME_TOKEN is needed with PROGRAMME_BASE_URL: an access token of the product.");
  }
  const { startHandshake } = await import("../app/startup.ts");
  const handshake = await startHandshake(config);
  if (handshake && !(await waitUnlessStopped(isServiceNeeded(handshake, config)))) return;
  const { serveConnection } = await import("./serve.ts");
  try {
    await serveConnection(config, handshake);
  } catch (error) {
    await handshake?.transport.close();
    throw error;
  }
}

/** Waits for a promise. A stop signal ends the process at once, because nothing is open yet. */
async function waitUnlessStopped<R>(waiting: Promise<R>): Promise<R> {
  const stop = () => process.exit(0);
  for (const signal of stopSignals) process.on(signal, stop);
  try {
    return await waiting;
  } finally {
    for (const signal of stopSignals) process.off(signal, stop);
  }
}

/** Returns whether a service must be opened before the first call. A remote service needs no opening. */
function isServiceNeeded({ needsService }: StartupHandshake, { baseUrl, metrics }: Config): Promise<boolean> {
  return baseUrl !== undefined && !metrics ? needsService : waitAtMost(startupWaitMs, needsService, true);
}
