import { homedir } from "node:os";
import { resolve } from "node:path";
import { loadConfig } from "../config/load.ts";
import type { Setting } from "../config/setting.ts";
import { settings } from "../config/table.ts";
import { UsageError } from "../config/usage-error.ts";
import { serviceUrl } from "../config/values.ts";
import type { Host, JsonObject, Secret, ServerEntry } from "./hosts/host.ts";
import { blank, createSettingsFile, getHostEnvironment, type HostName, hosts, resolvePlace } from "./hosts/hosts.ts";
import { chooseLaunch, getRunningProcess, type Launcher } from "./hosts/launch.ts";
import { formatServerTable, mergeSettings } from "./hosts/merge.ts";
import { readSettings, replaceSettings } from "./hosts/write.ts";
import { getTextOption, note, type Options, print, printJson } from "./terminal/output.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The result of the command, printed as it is with `--json`. */
interface Report {
  readonly host: HostName;
  /** Path of the host's settings file; null if it has none. */
  readonly file: string | null;
  readonly settings: JsonObject;
  readonly written: boolean;
  readonly backup: string | null;
  /** The remaining steps for the user, as sentences. */
  readonly notes: readonly string[];
}

/**
 * Prints the settings with which a host finds this server, or merges them into the host's settings file.
 * @throws UsageError for a host or an option that does not fit the others
 */
export async function configureHost(hostName: HostName, env: Environment, options: Options): Promise<void> {
  const host: Host = hosts[hostName];
  const name = getTextOption(options, "name") ?? "programme";
  if (!/^[A-Za-z][\w-]{0,63}$/.test(name)) throw new UsageError("--name must be up to 64 letters, digits, - and _");
  const { server, left } = createWanted(host, env, options);
  if (options["inlineToken"] === true && server.secret?.value === undefined) {
    throw new UsageError(`${getTextOption(options, "tokenVariable") ?? tokenName} is needed with --inline-token`);
  }
  if (server.kind === "stdio" && !host.starts) {
    throw new UsageError(`${host.label} cannot start servers: give the address of a running one with --http`);
  }
  const given = getTextOption(options, "file");
  const file = given === undefined ? host.file(resolvePlace(env, homedir())) : resolve(given);
  const shown = createSettingsFile(host, server, name);
  const secrets = [...listSecretNotes(host, server, shown), ...left.map(describeLeftOut)];
  const report = { host: hostName, file: file ?? null, settings: shown };
  if (options["write"] !== true) {
    const where = file === undefined ? host.after : `This goes into ${file}; --write merges it in.`;
    await show(host, { ...report, written: false, backup: null, notes: [where, ...secrets] }, options);
    return;
  }
  if (file === undefined) throw new UsageError(`${host.label} has no file of settings: ${host.after}`);
  if (JSON.stringify(shown).includes(blank)) throw new UsageError(`PROGRAMME_TOKEN is needed: ${host.provide("")}`);
  const done = await merge(host, file, name, server);
  const { written, backup } = done;
  printReport(
    { ...report, written, backup, notes: written ? [host.after, ...secrets, ...done.notes] : done.notes },
    options,
  );
}

async function merge(host: Host, file: string, name: string, server: ServerEntry) {
  const before = await readSettings(file);
  const after = await mergeSettings(host, before, name, host.settings(server, name)).catch((error: unknown) => {
    throw error instanceof UsageError ? new UsageError(`${file}: ${error.message}`) : error;
  });
  if (after === before) return { written: false, backup: null, notes: ["It already contains these settings."] };
  const { backup, shared } = await replaceSettings(file, before, after);
  const warned = shared && server.secret?.value !== undefined;
  const notes = warned ? [`Others can read the file, which holds a token: chmod 600 ${file}`] : [];
  return { written: true, backup: backup ?? null, notes };
}

async function show(host: Host, report: Report, options: Options): Promise<void> {
  if (options["json"]) return printJson(report);
  print(await formatSettings(host, report.settings));
  for (const line of report.notes) note(line);
}

/** Formats a settings file that contains only this server. */
async function formatSettings(host: Host, content: JsonObject): Promise<string> {
  if (host.format === "json") return `${JSON.stringify(content, null, 2)}\n`;
  return formatServerTable(content);
}

function printReport(report: Report, options: Options): void {
  if (options["json"]) {
    printJson(report);
    return;
  }
  if (report.written) print(`Wrote ${report.file}.\n`);
  if (report.backup !== null) note(`What was there before is in ${report.backup}.`);
  for (const line of report.notes) note(line);
}

interface Wanted {
  readonly server: ServerEntry;
  /** Variables that are set here but that the host does not pass on. */
  readonly left: readonly string[];
}

function createWanted(host: Host, env: Environment, options: Options): Wanted {
  const given = { ...options, inlineToken: options["inlineToken"] === true || host.reference === undefined };
  return getTextOption(options, "http") === undefined
    ? createStdioServer({ ...env, ...chooseToolMode(host, env, given) }, given)
    : createHttpServer(env, given);
}

/** Returns the tool mode that suits a host, unless the user has chosen which tools are listed. */
function chooseToolMode(host: Host, env: Environment, options: Options): Environment {
  const reducing = ["toolMode", "toolsets", "tools"] as const;
  const isChosen = settings.some(
    ([name, { variable }]) => reducing.some((each) => each === name) && (options[name] || env[variable]),
  );
  return isChosen ? {} : getHostEnvironment(host);
}

/** Returns this program as a stdio server with its current settings. */
function createStdioServer(env: Environment, options: Options): Wanted {
  if (options["tokenVariable"] !== undefined) throw new UsageError("--token-variable needs --http");
  const { baseUrl, token } = loadConfig(env, options);
  const given = settings.filter(([, setting]) => setting.commands.includes("stdio") && setting.variable !== tokenName);
  const carried = given.flatMap(([name, setting]) => {
    const value = setting.option === undefined ? undefined : options[name] || env[setting.variable];
    return value === undefined || value === ""
      ? []
      : [[setting.variable, toAbsolutePath(setting, String(value))] as const];
  });
  const left = given.filter(([, { option, variable }]) => option === undefined && env[variable]);
  const launcher = (getTextOption(options, "launch") ?? "auto") as Launcher;
  const secret = token !== undefined || baseUrl !== undefined ? createSecret(tokenName, token, options) : undefined;
  return {
    server: {
      kind: "stdio",
      ...chooseLaunch(getRunningProcess(env), launcher),
      env: Object.fromEntries(carried),
      secret,
    },
    left: left.map(([, { variable }]) => variable),
  };
}

const tokenName = "PROGRAMME_TOKEN";

/** Makes a path absolute, because hosts start programs in their own directories. */
function toAbsolutePath({ option = "" }: Setting, value: string): string {
  const isPath = /<(file|directory)\b/.test(option) && value !== ":memory:" && !/^[a-z][a-z0-9+.-]+:\/\//i.test(value);
  return isPath ? resolve(value) : value;
}

function createHttpServer(env: Environment, options: Options): Wanted {
  const ofStdio = settings.find(([name]) => options[name] !== undefined);
  if (ofStdio) {
    const [option] = ofStdio[1].option?.split(" ") ?? [];
    throw new UsageError(`${option} does not go with --http: a running server has its own settings`);
  }
  const variable = getTextOption(options, "tokenVariable") ?? tokenName;
  if (!/^[A-Za-z_]\w{0,199}$/.test(variable))
    throw new UsageError("--token-variable must name an environment variable");
  const token = env[variable];
  if (token !== undefined && !/^[!-~]{1,10000}$/.test(token)) throw new UsageError(`${variable} holds no bearer token`);
  const server: ServerEntry = {
    kind: "http",
    url: normalizeAddress(getTextOption(options, "http") ?? ""),
    platform: process.platform,
    secret: createSecret(variable, token, options),
  };
  return { server, left: [] };
}

/** Returns the address of MCP. An address without a path gets `/mcp`. */
function normalizeAddress(given: string): string {
  const result = serviceUrl.createSchema().safeParse(given);
  if (!result.success) throw new UsageError(`--http must be ${serviceUrl.allowed}, not ${JSON.stringify(given)}`);
  return new URL(result.data).pathname === "/" ? `${new URL(result.data).origin}/mcp` : result.data;
}

function createSecret(variable: string, value: string | undefined, options: Options): Secret {
  return { variable, value: options["inlineToken"] === true && value !== "" ? value : undefined };
}

function listSecretNotes(host: Host, { secret }: ServerEntry, shown: JsonObject): string[] {
  if (secret === undefined) return [];
  if (secret.value !== undefined) return ["The token is in the settings: keep them to yourself."];
  const fill = JSON.stringify(shown).includes(blank) ? ` Put it in place of ${blank}.` : "";
  return [`${host.provide(secret.variable)}${fill}`];
}

function describeLeftOut(variable: string): string {
  return `${variable} is a secret and was left out: set it in the environment that the host starts in.`;
}
