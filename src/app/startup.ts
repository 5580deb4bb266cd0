import type { Config } from "../config/load.ts";
import { excludeSensitiveScopes, scopes } from "../contract/access/scopes.ts";
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
export function startHandshake(config: Config, transport = new StdioTransport()): StartupHandshake | undefined {
  const supposed = guessScopes(config);
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

/** Returns the scopes of a token that was never used, or was never seen. */
function guessScopes({ baseUrl, token, scopes: configured }: Config) {
  if (baseUrl !== undefined) return new Set(configured ?? excludeSensitiveScopes(scopes));
  return token === undefined ? excludeSensitiveScopes(scopes) : undefined;
}
