import { existsSync } from "node:fs";
import {
  type ComparedTable,
  CopyRefused,
  type CopyReport,
  compareDatabases,
  copyDatabase,
  createStoreOptions,
} from "../app/copy.ts";
import { type DatabaseLocation, databaseSettings, parseDatabaseLocation, refusePassword } from "../config/database.ts";
import { type Config, toUsageError } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { isPostgresAddress } from "../lib/postgres-address.ts";
import { getTextOption, type Options, print, printJson } from "./terminal/output.ts";
import { showProgress } from "./terminal/progress.ts";
import { onInterrupt } from "./terminal/signals.ts";
import { formatColumns } from "./terminal/table.ts";

/**
 * Copies a whole database to another, or compares the two.
 * @throws UsageError when these databases cannot be copied
 * @throws Interrupted when the process is stopped; a second run continues
 */
export async function copyData(config: Config, options: Options): Promise<void> {
  const [from, to] = resolveSides(config, options);
  const verify = options["verify"] === true;
  const startedMs = performance.now();
  const report = await run(config, { from, to, verify });
  const result = {
    from: from.databaseName,
    to: to.databaseName,
    verified: report.tables.every(({ same }) => same),
    resumed: report.resumed,
    rows: report.tables.reduce((sum, table) => sum + table.to.rows, 0),
    seconds: Math.round((performance.now() - startedMs) / 100) / 10,
    tables: report.tables,
    notInTheDatabase: listFilesBeside(from, to),
  };
  if (options["json"]) printJson(result);
  else print(verify ? formatComparison(report) : formatSummary(result));
  if (!result.verified) throw new Error(`${from.databaseName} and ${to.databaseName} do not hold the same.`);
}

/** Resolves both databases. One of them may be the configured database, because options must not contain passwords. */
function resolveSides(config: Config, options: Options): [from: DatabaseLocation, to: DatabaseLocation] {
  const [from, to] = [getTextOption(options, "from"), getTextOption(options, "to")];
  if (from === undefined && to === undefined) throw new UsageError("Say what to copy: --from, --to, or one of them.");
  if (to === undefined && !config.databaseGiven) {
    throw new UsageError("Say where to: --to, or PROGRAMME_DATABASE for an address with a password.");
  }
  const both = [resolveLocation(config, "--from", from), resolveLocation(config, "--to", to)] as const;
  if (both.some(({ database }) => database === ":memory:")) throw new UsageError(":memory: cannot be copied.");
  return [...both];
}

function resolveLocation(config: Config, option: string, given: string | undefined): DatabaseLocation {
  if (given === undefined) return config;
  refusePassword(given, option);
  const setting = databaseSettings.database;
  if (!setting.type.createSchema().safeParse(given).success) throw toUsageError(option, setting, given);
  return parseDatabaseLocation(given, config.database, config.dataDir);
}

interface Work {
  readonly from: DatabaseLocation;
  readonly to: DatabaseLocation;
  readonly verify: boolean;
}

async function run(config: Config, { from, to, verify }: Work): Promise<CopyReport> {
  const progress = showProgress(verify ? "Comparing" : "Copying", 1);
  using interruption = onInterrupt(
    verify ? "The comparison was not finished." : "The copy was not finished: the same command goes on with it.",
  );
  try {
    return await (verify ? compareDatabases : copyDatabase)({
      from: createStoreOptions(config, from.database),
      to: createStoreOptions(config, to.database),
      onProgress(share) {
        interruption.signal.throwIfAborted();
        progress.to(share);
      },
    });
  } catch (error) {
    throw error instanceof CopyRefused ? new UsageError(error.message) : error;
  } finally {
    progress.end();
  }
}

interface Result {
  readonly to: string;
  readonly rows: number;
  readonly seconds: number;
  readonly resumed: boolean;
  readonly tables: readonly ComparedTable[];
  readonly notInTheDatabase: readonly string[];
}

function formatSummary({ to, rows, seconds, resumed, tables, notInTheDatabase }: Result): string {
  const filled = tables.filter(({ to: { rows } }) => rows > 0);
  const went = resumed ? "A copy that was begun is complete now" : "Copied";
  return [
    formatColumns([["table", "rows", "sha256"], ...filled.map(formatTableRow)], "header"),
    `${went}: ${rows} rows in ${filled.length} tables of ${to}, every one compared, in ${seconds} s.`,
    "",
    "Not in the database:",
    ...notInTheDatabase.map((line) => `  ${line}`),
    "",
  ].join("\n");
}

function formatComparison({ tables }: CopyReport): string {
  const rows = tables.map(({ table, from, to, same }) => [
    same ? "same" : "different",
    table,
    String(from.rows),
    String(to.rows),
  ]);
  const different = tables.filter(({ same }) => !same).length;
  const total = tables.reduce((sum, { to }) => sum + to.rows, 0);
  const found = different > 0 ? `Different: ${different} of ${tables.length} tables.` : `The same: ${total} rows.`;
  return `${formatColumns([["", "table", "rows here", "rows there"], ...rows], "header")}\n${found}\n`;
}

function formatTableRow({ table, to }: ComparedTable): string[] {
  return [table, String(to.rows), to.sha256.slice(0, 16)];
}

const besideDatabase = [
  ["files", "what applicants attached"],
  ["exports", "finished exports"],
  ["mail", "messages that no server was there to take"],
] as const;

/** Lists the local files that have to be copied by hand. */
function listFilesBeside(from: DatabaseLocation, to: DatabaseLocation): string[] {
  const moved = besideDatabase
    .map(([name, what]) => [what, `${from.filesBeside}.${name}`, `${to.filesBeside}.${name}`] as const)
    .filter(([, path]) => existsSync(path))
    .map(([what, path, target]) => `${what}: move ${path} to ${target}`);
  const key = `${from.filesBeside}.key`;
  const keyFromFile = isPostgresAddress(to.database)
    ? `set PROGRAMME_SECRET_KEY to what ${key} holds`
    : `move ${key} to ${to.filesBeside}.key`;
  const advice = existsSync(key) ? keyFromFile : "keep the same PROGRAMME_SECRET_KEY";
  const serverKey = `the server key, without which signing secrets of webhooks cannot be read: ${advice}`;
  return [...moved, "in a bucket: files and exports stay where they are", serverKey];
}
