import { pino } from "pino";
import { createApp } from "../../src/app/app.ts";
import { loadConfig } from "../../src/config/load.ts";
import { openMisbehaving, passingFaults } from "../../test/upstream/misbehaving-proxy.ts";
import type { ServerTarget } from "./connection.ts";
import type { World } from "./world.ts";

/** An MCP server on a remote service whose connection fails. */
export interface FlakyServer {
  readonly target: ServerTarget;
  close(): Promise<void>;
}

/** Every how many requests one fails. */
const failEvery = 3;

/** Starts an MCP server that reaches a world's service through a proxy that fails in turns. */
export async function openFlakyServer(world: World): Promise<FlakyServer> {
  const proxy = await openMisbehaving(world.origin);
  const config = loadConfig({
    PROGRAMME_BASE_URL: proxy.origin,
    PROGRAMME_DATABASE: ":memory:",
    PROGRAMME_PORT: "0",
    PROGRAMME_REQUESTS_PER_MINUTE: "100000",
  });
  const app = await createApp(config, { clock: { now: world.now }, log: pino({ level: "silent" }) });
  const { origin } = await app.listen();
  let requests = 0;
  proxy.behave(({ method }) => {
    requests += 1;
    if (requests % failEvery !== 0) return undefined;
    // A change that was made before the connection was lost must not be made again.
    return method === "GET" ? passingFaults["answers 503"] : passingFaults["drops the connection after"];
  });
  return {
    target: { url: `${origin}/mcp` },
    async close() {
      await app.close();
      await proxy.close();
    },
  };
}
