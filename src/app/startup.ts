import type { Config } from "../config/load.ts";
import { excludeSensitiveScopes, scopes } from "../contract/access/scopes.ts";
import { isPostgresAddress } from "../lib/postgres-address.ts";
import { version } from "../lib/version.ts";
import { answerStartup, createStartupServerFactory } from "../transport/stdio/startup-handshake.ts";
import { StdioTransport } from "../transport/stdio/stdio-transport.ts";

export interface StartupHandshake {
  /** Buffers what the client has sent, for the server that connects to it. */
  readonly transport: StdioTransport;
  /** Resolves to whether a message needs the service; false if the client ends its input before. */
  readonly needsService: Promise<boolean>;
}

/**
 * Answers a client's handshake and lists the tools before the service is open. Returns undefined if only the service
 * knows which tools there are.
 */
export async function startHandshake(
  config: Config,
  transport = new StdioTransport(),
): Promise<StartupHandshake | undefined> {
  const supposed = await findLikelyScopes(config);
  if (!supposed || config.toolMode !== "full") return undefined;
  const createServer = createStartupServerFactory({
    version,
    settings: config,
    scopes: supposed,
    followed: true,
    watchesRecords: config.hasEvents,
  });
  return { transport, needsService: answerStartup(transport, createServer) };
}

/** Returns the scopes that the token has in the database, or those of one that was never used or never seen. */
async function findLikelyScopes({ baseUrl, token, scopes: configured, database }: Config) {
  if (baseUrl !== undefined) return new Set(configured ?? excludeSensitiveScopes(scopes));
  if (token === undefined) return excludeSensitiveScopes(scopes);
  if (isPostgresAddress(database)) return undefined;
  const { readTokenScopes } = await import("../store/sqlite/token-scopes.ts");
  return readTokenScopes(database, token, new Date());
}
