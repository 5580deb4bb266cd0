import { existsSync } from "node:fs";
import { type App, createApp } from "../../app/app.ts";
import { connectRemote } from "../../app/remote-wiring.ts";
import { type Config, isDemo, loadConfig } from "../../config/load.ts";
import { UsageError } from "../../config/usage-error.ts";
import { systemClock } from "../../lib/clock.ts";
import { isPostgresAddress } from "../../lib/postgres-address.ts";
import { unwatched } from "../../lib/telemetry.ts";
import { version } from "../../lib/version.ts";
import { type Options, print, printJson } from "../terminal/output.ts";
import { paint } from "../terminal/paint.ts";
import { formatColumns } from "../terminal/table.ts";
import { issueProcessToken } from "../tokens/local-token.ts";
import { checkCallers } from "./callers.ts";
import { createFailure, createPass, createSkip, createWarning, type DoctorCheck, formatSentence } from "./check.ts";
import { checkFiles } from "./files.ts";
import { checkPostgres } from "./postgres.ts";
import { checkScopes } from "./scopes.ts";
import { checkService } from "./service.ts";
import { checkWebhooksIn } from "./webhooks.ts";

/**
 * Checks the configuration from end to end, and prints findings and remedies. Exits with 1 unless calls were answered.
 */
export async function runDoctor(env: NodeJS.ProcessEnv, options: Options): Promise<void> {
  const checks = await runChecks(env, options);
  const verdict = chooseVerdict(checks);
  if (options["json"]) printJson({ ok: verdict === "works", verdict, checks });
  else print(formatReport(checks, verdict));
  process.exitCode = verdict === "works" ? 0 : 1;
}

type Verdict = keyof typeof verdicts;
const verdicts = {
  works: { colour: "green", text: "It works." },
  fails: { colour: "red", text: "It does not work yet." },
  untried: {
    colour: "yellow",
    text: "Nothing found is wrong, but no call could be made: whether it works was not tried.",
  },
} as const;

function chooseVerdict(checks: readonly DoctorCheck[]): Verdict {
  if (checks.some(({ status }) => status === "fail")) return "fails";
  return checks.some(({ answered }) => answered) ? "works" : "untried";
}

type Status = DoctorCheck["status"];
const colours = { ok: "green", warn: "yellow", fail: "red", skip: "dim" } as const satisfies Record<Status, string>;

function formatReport(checks: readonly DoctorCheck[], verdict: Verdict): string {
  const rows = checks.flatMap(({ status, name, found, fix }) => [
    [status, name, found],
    ...(fix === undefined ? [] : [["", "", `→ ${fix}`]]),
  ]);
  // Coloured after the columns are aligned, because colour codes have characters but no width.
  const table = formatColumns(rows).replace(/^(ok|warn|fail|skip)\b/gm, (status) =>
    paint(colours[status as Status], status),
  );
  const { colour, text } = verdicts[verdict];
  return `${table}\n${paint(colour, text)}\n`;
}

async function runChecks(env: NodeJS.ProcessEnv, options: Options): Promise<DoctorCheck[]> {
  const name = "configuration";
  try {
    const config = loadConfig(env, options);
    const where = config.baseUrl === undefined ? "the embedded service" : `the service at ${config.baseUrl}`;
    const found = `programme-mcp ${version} on Node ${process.versions.node}, with ${where}.`;
    return [createPass(name, found), ...(await runConfigChecks(config))];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [createFailure(name, error.message, "Correct the setting; programme-mcp http --help lists all of them.")];
  }
}

async function runConfigChecks(config: Config): Promise<DoctorCheck[]> {
  // The check must not create what it checks.
  const { checks: files, hasData } = isPostgresAddress(config.database)
    ? await checkPostgres(config)
    : { checks: checkFiles(config), hasData: config.database !== ":memory:" && existsSync(config.database) };
  if (files.some(({ status }) => status === "fail")) return files;
  const name = "database";
  let app: App;
  try {
    const examined = hasData ? config : { ...config, database: ":memory:", filesBeside: undefined };
    app = await createApp({ ...examined, logLevel: "silent" });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return [
      ...files,
      createFailure(name, formatSentence(error), "Restore it from a backup, or name another in PROGRAMME_DATABASE."),
    ];
  }
  try {
    const opened = hasData ? [await checkRecords(app, config, name)] : [];
    const tried = await (config.baseUrl === undefined ? checkEmbedded : checkRemote)(app, config);
    const callers = await checkCallers(app, config, hasData);
    return [...files, ...opened, ...tried, ...callers, await checkWebhooksIn(app, config)];
  } finally {
    await app.close();
  }
}

async function checkRecords({ store }: App, { baseUrl }: Config, name: string): Promise<DoctorCheck> {
  if (baseUrl !== undefined) return createPass(name, "It can be opened; it holds this program's keys.");
  const organisations = (await store.listBusinesses()).length;
  return createPass(
    name,
    `It can be opened; it holds ${organisations} ${organisations === 1 ? "organisation" : "organisations"}.`,
  );
}

async function checkRemote(app: App, config: Config): Promise<DoctorCheck[]> {
  const { baseUrl = "", token, scopes } = config;
  // The scopes that the service grants, not the configured ones.
  const local = { store: app.store, clock: systemClock, log: app.log, telemetry: unwatched };
  const connected = connectRemote({ ...config, scopes: undefined }, baseUrl, local);
  try {
    const checks = await checkService(config, baseUrl, connected);
    const usable = token !== undefined && checks.every(({ status }) => status !== "fail");
    return [...checks, ...(usable ? await checkScopes(connected.upstream, token, scopes) : [])];
  } finally {
    await connected.client.close();
  }
}

async function checkEmbedded(app: App, config: Config): Promise<DoctorCheck[]> {
  const name = "token";
  const { token } = config;
  if (token !== undefined) {
    const known = await app.pipeline.identify(token).catch(() => undefined);
    const fix = "Make one with: programme-mcp token create";
    if (!known) return [createFailure(name, "PROGRAMME_TOKEN is unknown to this database, expired or revoked.", fix)];
    return [
      createPass(name, "The database knows PROGRAMME_TOKEN."),
      ...(await checkScopes(app.upstream, token, undefined)),
    ];
  }
  if ((await app.store.listBusinesses()).length === 0) {
    const start = isDemo(config)
      ? createSkip(name, "The first start makes demonstration data, and a token for it.")
      : createWarning(name, "The database holds no organisation yet.", "Make one with: programme-mcp token create");
    return isPostgresAddress(config.database) ? [start] : [start, ...(await checkInMemory(config))];
  }
  const own = await issueProcessToken(app);
  try {
    const found = "Over stdio calls run as a token of the process; over HTTP callers bring theirs.";
    return [createPass(name, found), ...(await checkScopes(app.upstream, own.token, undefined))];
  } finally {
    await own.revoke();
  }
}

/** Tries calls on a database in memory if the SQLite database is still empty, so that it stays empty. */
async function checkInMemory(config: Config): Promise<DoctorCheck[]> {
  const app = await createApp({ ...config, database: ":memory:", filesBeside: undefined, logLevel: "silent" });
  try {
    return await checkScopes(app.upstream, (await issueProcessToken(app)).token, undefined);
  } finally {
    await app.close();
  }
}
