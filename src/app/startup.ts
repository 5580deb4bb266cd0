import type { Config } from "../config/load.ts";
import { excludeSensitiveScopes, scopes } from "../contract/scopes.ts";
import { version } from "../lib/version.ts";
import { createGreeter } from "../transport/stdio/greeter.ts";
import { StartupHandshake } from "../transport/stdio/startup-handshake.ts";
import type { StdioWire } from "../transport/stdio/stdio-transport.ts";

export type { StartupHandshake };

/**
 * Greets the client on stdin and shows it the tools, long before the service is open. Nothing where only the service
 * can say which tools those are.
 * @param stdio - another transport in place of stdin and stdout
 */
export async function startHandshake(config: Config, stdio?: StdioWire): Promise<StartupHandshake | undefined> {
  const supposed = guessScopes(config);
  if (!supposed || config.toolMode === "search") return undefined;
  const greeter = createGreeter({
    version,
    settings: config,
    scopes: supposed,
    followed: true,
    watchesRecords: config.hasEvents,
  });
  const wire = new StartupHandshake(greeter, stdio);
  await wire.greet();
  return wire;
}

/** Those of a token that was never used, or was never seen. */
function guessScopes({ baseUrl, token, scopes: told }: Config) {
  if (baseUrl !== undefined) return new Set(told ?? excludeSensitiveScopes(scopes));
  return token === undefined ? excludeSensitiveScopes(scopes) : undefined;
}
