import type { default as Driver } from "pg";
import { connectClient, type PoolOptions } from "./pools.ts";
import type { ServerSelector } from "./servers.ts";

/** Limits how long a replaced server that still answers goes unnoticed. */
const intervalMs = 10_000;

/**
 * Checks at intervals where the address leads now, which existing connections cannot show.
 * @param isInUse - returns whether there are such connections
 * @returns a function that stops the checks
 */
export function watchPrimary(
  pg: typeof Driver,
  options: PoolOptions & { readonly each: readonly ServerSelector[] },
  isInUse: () => boolean,
): () => void {
  let isLooking = false;

  async function look(): Promise<void> {
    if (isLooking || !isInUse()) return;
    isLooking = true;
    // Connecting is enough, because the guard compares the servers. Servers that are down or read-only are ignored
    // until something fails.
    await Promise.allSettled(
      options.each.map(async (servers) => (await connectClient(pg, { ...options, servers })).end()),
    );
    isLooking = false;
  }

  const timer = setInterval(() => void look(), intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
