import type { ServerTarget } from "./connection.ts";
import type { World } from "./world.ts";

/**
 * Returns the MCP server that a text names for a world: an address or a command. `{baseUrl}` and `{token}` in it stand for
 * the world's service and the agent's token, which a command also finds in `PROGRAMME_BASE_URL` and `PROGRAMME_TOKEN`.
 */
export function chooseServer(text: string | undefined): ((world: World) => ServerTarget) | undefined {
  if (text === undefined) return undefined;
  return ({ origin, token }) => {
    const filled = text.replaceAll("{baseUrl}", origin).replaceAll("{token}", token);
    if (/^https?:\/\//.test(filled)) return { url: filled };
    const [command = "", ...args] = filled.split(/\s+/);
    const { PATH = "", HOME = "" } = process.env;
    return { command, args, env: { PATH, HOME, PROGRAMME_BASE_URL: origin, PROGRAMME_TOKEN: token } };
  };
}
