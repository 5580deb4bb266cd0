import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { type App, requireServerKey } from "../app/app.ts";
import type { StartupHandshake } from "../app/startup.ts";
import { type Config, isDemo } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { isUnavailable } from "../contract/errors.ts";
import { toNamedOrigin } from "../lib/http/loopback.ts";
import { isPostgresAddress } from "../lib/postgres-address.ts";
import { retry } from "../lib/retry.ts";
import { version } from "../lib/version.ts";
import { chooseLaunch, getRunningProcess } from "./hosts/launch.ts";
import { databaseWaitMs, openApp } from "./open-app.ts";
import { onBrokenPipe } from "./terminal/broken-pipe.ts";
import { print } from "./terminal/output.ts";
import { stopSignals } from "./terminal/signals.ts";
import { issueProcessToken, loadLocalToken } from "./tokens/local-token.ts";
import { formatUserLink } from "./user-link.ts";

/**
 * Serves MCP over stdin and stdout until the client disconnects, beginning with the messages that `handshake` has
 * buffered.
 */
export async function serveConnection(config: Config, handshake: StartupHandshake | undefined): Promise<void> {
  const app = await openToServe(config);
  if (config.token !== undefined && config.baseUrl === undefined) await refuseUnknownToken(app, config.token);
  await startWork(app);
  let connection: ReturnType<App["connectStdio"]> | undefined;
  let local: ReturnType<typeof issueProcessToken> | undefined;
  // A signal must not end the process between the token's creation and the first call.
  const stop = handleStopSignals(app, async () => {
    await connection?.close();
    await (await local)?.revoke();
  });
  local = config.token === undefined ? issueProcessToken(app) : undefined;
  const token = config.token ?? (await local)?.token ?? "";
  await serveMetrics(app, config);
  connection = app.connectStdio(token, handshake?.transport);
  void connection.closed.then(stop);
  onBrokenPipe(() => void stop());
}

/** Serves the pages for people over HTTP until stopped, beside processes that serve MCP on the same database. */
export async function serveConsole(config: Config): Promise<void> {
  const app = await openToServe(config);
  const { origin } = await listenOrClose(app, config, app.listenForPeople());
  await startWork(app);
  handleStopSignals(app, async () => app.drain());
  onBrokenPipe(() => undefined);
  const page = toNamedOrigin(config.publicUrl ?? origin);
  print(`programme-mcp ${version}\n  Page  ${page}/\n${await formatSetup(app, page)}`);
}

/** @throws UsageError when the port is in use */
async function listenOrClose<Server>(app: App, { host, port }: Config, listening: Promise<Server>): Promise<Server> {
  try {
    return await listening;
  } catch (error) {
    await app.close();
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    throw new UsageError(`--port ${port} is in use on ${host}; choose another.`);
  }
}

/** Serves REST and MCP over HTTP until stopped. */
export async function serveHttp(config: Config): Promise<void> {
  const app = await openToServe(config);
  const server = await listenOrClose(app, config, app.listen());
  await startWork(app);
  await serveMetrics(app, config);
  const { gatewayKeys, oauth, publicUrl = server.origin } = config;
  // SIGHUP asks a daemon to read its files again. Without a key file, it means that the terminal was closed.
  if (gatewayKeys !== undefined) process.on("SIGHUP", () => app.reloadKeys());
  const drain = async () => {
    app.drain();
    await delay(config.drainSeconds * 1000);
  };
  handleStopSignals(app, drain, gatewayKeys === undefined ? stopSignals : ["SIGINT", "SIGTERM"]);
  onBrokenPipe(() => undefined);
  if (gatewayKeys !== undefined || oauth) {
    print(`${formatGatewayBanner(publicUrl, config)}${await formatSetup(app, publicUrl)}`);
    return;
  }
  const token = isDemo(config) ? await loadLocalToken(app, config) : undefined;
  print(`${formatBanner(publicUrl, config, token)}${await formatSetup(app, publicUrl)}`);
}

const openRetryMs = 1_000;

/** Opens the program. Checks everything that could prevent serving before it creates any file. */
async function openToServe(config: Config): Promise<App> {
  if (config.baseUrl === undefined) requireServerKey(config);
  return retry(() => openApp(config, { databaseWaitMs }), {
    firstPauseMs: openRetryMs,
    maxPauseMs: openRetryMs,
    // Another process can hold an SQLite file for longer than a transaction waits while it fills it.
    getLimitMs: (error) => (isUnavailable(error) ? databaseWaitMs : 0),
  });
}

/** Starts the background work, once nothing prevents serving. */
async function startWork(app: App): Promise<void> {
  try {
    await app.joinOthers();
    app.startWorkers();
  } catch (error) {
    await app.close();
    throw error;
  }
}

async function serveMetrics(app: App, { metrics }: Config): Promise<void> {
  try {
    const url = await app.serveMetrics();
    if (url !== undefined) app.log.info({ url }, "Metrics are served");
  } catch (error) {
    await app.close();
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EADDRINUSE" && code !== "EADDRNOTAVAIL") throw error;
    const why = code === "EADDRINUSE" ? "is in use" : "is not an address of this machine";
    throw new UsageError(`--metrics ${metrics?.host}:${metrics?.port} ${why}; choose another.`);
  }
}

async function refuseUnknownToken(app: App, token: string): Promise<void> {
  try {
    await app.pipeline.identify(token);
  } catch {
    await app.close();
    throw new UsageError(
      "PROGRAMME_TOKEN is unknown to this database, revoked or expired; make one with: programme-mcp token create",
    );
  }
}

/**
 * Shuts down on a stop signal or when told to: requests in flight end, and queued entries are written. A second signal
 * ends the process at once, with the signal's usual exit code.
 */
function handleStopSignals(
  app: App,
  before: () => Promise<void>,
  signals: readonly NodeJS.Signals[] = stopSignals,
): () => Promise<void> {
  let stopping = false;
  let signalled = false;
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
  for (const signal of signals) {
    process.on(signal, () => {
      if (signalled) process.exit(128 + constants.signals[signal]);
      signalled = true;
      void stop();
    });
  }
  return stop;
}

/** Describes the link with which the first owner sets up an account, until there is one. */
async function formatSetup(app: App, origin: string): Promise<string> {
  const secret = await app.userAdmin.issueFirstLink();
  if (secret === undefined) return "";
  return `\nThe first account for people (the link works once, within a day):\n  ${formatUserLink(origin, secret)}\n`;
}

function listAddresses(origin: string, { baseUrl, webhookSecrets }: Config): string[] {
  // With a remote service, the product serves REST itself.
  const rest = baseUrl === undefined ? [`  REST  ${origin}/integrations/v1`] : [];
  const webhooks = [...(webhookSecrets?.keys() ?? [])].map((name) => `  Hooks ${origin}/webhooks/${name}`);
  return [`programme-mcp ${version}`, `  Page  ${origin}/`, `  MCP   ${origin}/mcp`, ...rest, ...webhooks];
}

/** Describes the credentials for MCP, if access tokens are not accepted. */
function formatGatewayBanner(origin: string, config: Config): string {
  const { gatewayKeys, oauth } = config;
  const keys = gatewayKeys === undefined ? [] : ["  Keys  programme-mcp gateway-key create --name NAME"];
  const issuer = oauth ? [`  OAuth ${oauth.issuer}`] : [];
  return `${[...listAddresses(origin, config), ...keys, ...issuer].join("\n")}\n`;
}

/**
 * Returns the command that creates a token for this database. The address of a database server is already in the
 * environment.
 */
function formatTokenCommand({ database }: Config): string {
  const command = "programme-mcp token create";
  if (isPostgresAddress(database)) return command;
  return `${command} --database ${/\s/.test(database) ? JSON.stringify(database) : database}`;
}

function formatBanner(origin: string, config: Config, token?: string): string {
  const addresses = listAddresses(origin, config);
  if (token === undefined) {
    const made = config.baseUrl === undefined ? [`  Token ${formatTokenCommand(config)}`] : [];
    return `${[...addresses, ...made].join("\n")}\n`;
  }
  const overHttp = { type: "http", url: `${origin}/mcp`, headers: { Authorization: `Bearer ${token}` } };
  const overStdio = { ...chooseLaunch(getRunningProcess(process.env), "auto"), env: { PROGRAMME_TOKEN: token } };
  const formatSettings = (server: object) => JSON.stringify({ mcpServers: { programme: server } }, null, 2);
  return [
    ...addresses,
    `  Token ${token}`,
    "",
    "Client settings over HTTP:",
    formatSettings(overHttp),
    "",
    "Client settings over stdio:",
    formatSettings(overStdio),
    "",
    "For a client by its name: npx programme-mcp config --help",
    "",
  ].join("\n");
}
