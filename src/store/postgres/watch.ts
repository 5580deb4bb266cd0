import type { default as Driver } from "pg";
import { connectClient, type PoolOptions } from "./pools.ts";
import type { Reachable } from "./servers.ts";

/** How long a server that was replaced, and still answers, may go unnoticed while nothing fails. */
const intervalMs = 10_000;

/**
 * Looks at intervals where the address leads now: connections that were made before tell nothing of that.
 * @param isInUse - whether there are such connections
 * @returns what ends it
 */
export function watchPrimary(
  pg: typeof Driver,
  options: PoolOptions & { readonly each: readonly Reachable[] },
  isInUse: () => boolean,
): () => void {
  let isLooking = false;

  async function look(): Promise<void> {
    if (isLooking || !isInUse()) return;
    isLooking = true;
    // Each is connected to for what the guard learns. One that is away, or only reads, matters once something fails.
    await Promise.allSettled(
      options.each.map(async (servers) => (await connectClient(pg, { ...options, servers })).end()),
    );
    isLooking = false;
  }

  const timer = setInterval(() => void look(), intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
