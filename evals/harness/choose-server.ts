import type { ServerTarget } from "./connection.ts";
import type { World } from "./world.ts";

/**
 * Returns the MCP server that a text names for a world: an address or a command, whose arguments with spaces are between
 * single quotation marks. `{baseUrl}` and `{token}` in it stand for
 * the world's service and the agent's token. A command also finds them, and the token's scopes, in the variables of this
 * program.
 */
export function chooseServer(text: string | undefined): ((world: World) => ServerTarget) | undefined {
  if (text === undefined) return undefined;
  return ({ origin, token, scopes }) => {
    const filled = text.replaceAll("{baseUrl}", origin).replaceAll("{token}", token);
    if (/^https?:\/\//.test(filled)) return { url: filled };
    const [command = "", ...args] = (filled.match(/'[^']*'|\S+/g) ?? []).map((part) => part.replace(/^'(.*)'$/, "$1"));
    const { PATH = "", HOME = "" } = process.env;
    const own = { PROGRAMME_BASE_URL: origin, PROGRAMME_TOKEN: token, PROGRAMME_SCOPES: scopes.join(",") };
    return { command, args, env: { PATH, HOME, ...own } };
  };
}
