import { fileURLToPath } from "node:url";
import type { App } from "../app.ts";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { version } from "../lib/version.ts";
import { issueProcessToken, localToken } from "./local-token.ts";
import { isDemo, openApp } from "./open.ts";

/** Serves MCP over stdin and stdout until the client goes away. */
export async function serveStdio(config: Config): Promise<void> {
  if (config.baseUrl !== undefined && config.token === undefined) {
    throw new UsageError("PROGRAMME_TOKEN is needed with PROGRAMME_BASE_URL: an access token of the product.");
  }
  const app = await openApp(config);
  if (config.token !== undefined && config.baseUrl === undefined) await refuseUnknownToken(app, config.token);
  await startWork(app);
  const local = config.token === undefined ? await issueProcessToken(app) : undefined;
  const connection = app.connectStdio(config.token ?? local?.token ?? "");
  const stop = onStop(app, async () => {
    await connection.close();
    await local?.revoke();
  });
  // Not by a signal to itself: without its input the process would end before that arrives.
  process.stdin.once("end", () => void stop());
}

/** Serves REST and MCP over HTTP until stopped. */
export async function serveHttp(config: Config): Promise<void> {
  const app = await openApp(config);
  const server = await app.listen().catch(async (error: NodeJS.ErrnoException) => {
    await app.close();
    if (error.code === "EADDRINUSE")
      throw new UsageError(`--port ${config.port} is in use on ${config.host}; choose another.`);
    throw error;
  });
  await startWork(app);
  const { gatewayKeys, oauth, publicUrl = server.origin } = config;
  // Daemons are told so to read their files again; without such a file it is a terminal that closed.
  if (gatewayKeys !== undefined) process.on("SIGHUP", () => app.reloadKeys());
  onStop(app, async () => undefined, gatewayKeys === undefined ? stopSignals : ["SIGINT", "SIGTERM"]);
  if (gatewayKeys !== undefined || oauth) {
    process.stdout.write(gatewayBanner(publicUrl, config));
    return;
  }
  const token = isDemo(config) ? await localToken(app, config) : undefined;
  process.stdout.write(banner(publicUrl, token));
}

/** Once nothing stands in the way of serving, the work beside requests begins. */
async function startWork(app: App): Promise<void> {
  try {
    app.startWorkers();
  } catch (error) {
    await app.close();
    throw error;
  }
}

async function refuseUnknownToken(app: App, token: string): Promise<void> {
  try {
    await app.gate.identify(token);
  } catch {
    await app.close();
    throw new UsageError(
      "PROGRAMME_TOKEN is unknown to this database, revoked or expired; make one with: programme-mcp token create",
    );
  }
}

const stopSignals: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Ends cleanly on the usual signals, or when told: what is open is finished, what is queued is written. */
function onStop(app: App, before: () => Promise<void>, signals = stopSignals): () => Promise<void> {
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    try {
      await before();
      await app.close();
      process.exit(0);
    } catch (error) {
      app.log.error({ err: error }, "Stopping failed");
      process.exit(1);
    }
  };
  for (const signal of signals) process.on(signal, () => void stop());
  return stop;
}

function addressesOf(origin: string): string[] {
  return [`programme-mcp ${version}`, `  MCP   ${origin}/mcp`, `  REST  ${origin}/integrations/v1`];
}

/** What callers of MCP need where access tokens are not for them. */
function gatewayBanner(origin: string, { gatewayKeys, oauth }: Config): string {
  const keys = gatewayKeys === undefined ? [] : ["  Keys  programme-mcp gateway-key create --name NAME"];
  const issuer = oauth ? [`  OAuth ${oauth.issuer}`] : [];
  return `${[...addressesOf(origin), ...keys, ...issuer].join("\n")}\n`;
}

function banner(origin: string, token: string | undefined): string {
  const addresses = addressesOf(origin);
  if (token === undefined)
    return `${[...addresses, "  Token programme-mcp token create --database FILE"].join("\n")}\n`;
  const overHttp = { type: "http", url: `${origin}/mcp`, headers: { Authorization: `Bearer ${token}` } };
  const main = fileURLToPath(new URL("../main.js", import.meta.url));
  const overStdio = { command: "node", args: [main], env: { PROGRAMME_TOKEN: token } };
  const settings = (server: object) => JSON.stringify({ mcpServers: { programme: server } }, null, 2);
  return [
    ...addresses,
    `  Token ${token}`,
    "",
    "Client settings over HTTP:",
    settings(overHttp),
    "",
    "Client settings over stdio:",
    settings(overStdio),
    "",
  ].join("\n");
}
