import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startPostgres } from "../../test/support/database/postgres-server.ts";
import { countLosses, createTokens, type LoadReport, startLoad } from "./load.ts";
import { atEnd, openBench, type Program, startProgram } from "./program.ts";

export interface Upgrade extends LoadReport {
  /** The commit of the earlier version. */
  readonly from: string;
  readonly migrations: number;
  readonly lost: number;
  readonly doubled: number;
}

const root = join(import.meta.dirname, "../..");
const loadMs = 4_000;

/** Replaces the processes of an earlier version under load, one after the other, behind a balancer. */
export async function measureUpgrade(revision: string | undefined): Promise<Upgrade> {
  const from = revision ?? findEarlier();
  const directory = extract(from);
  const server = await startPostgres({ settings: { fsync: "on", synchronous_commit: "on" } });
  atEnd(() => server.stop());
  const database = server.address;
  const earlier = [await startProgram(database, {}, directory), await startProgram(database, {}, directory)];
  const tokens = await createTokensOf(directory, database);
  const serving: Program[] = [...earlier];
  const balancer = await openBench([]);
  const turn = () => balancer.turnTo(serving.map(({ origin }) => origin));
  turn();
  const load = startLoad(balancer.origin, tokens);
  await delay(loadMs);
  for (const old of earlier) {
    serving.push(await startProgram(database));
    turn();
    await delay(loadMs);
    serving.splice(serving.indexOf(old), 1);
    turn();
    await old.stop();
  }
  await delay(loadMs);
  const report = await load.stop();
  const listed = (at: string) =>
    git(["ls-tree", "--name-only", at, "src/store/migrations/"])
      .split("\n")
      .filter((name) => /\d{3}_/.test(name)).length;
  const losses = await countLosses(database, load.acknowledged);
  return { from: git(["rev-parse", "--short", from]), migrations: listed("HEAD") - listed(from), ...report, ...losses };
}

/** Returns the latest release, or the commit before the latest migration. */
function findEarlier(): string {
  const [release] = git(["tag", "--list", "v*", "--sort=-version:refname"]).split("\n");
  if (release) return release;
  return `${git(["log", "-1", "--format=%H", "--diff-filter=A", "--", "src/store/migrations"])}^`;
}

/** Extracts the sources of a version. It uses the packages that are installed here. */
function extract(revision: string): string {
  const directory = mkdtempSync(join(tmpdir(), "programme-earlier-"));
  atEnd(async () => rmSync(directory, { recursive: true, force: true }));
  const archive = execFileSync("git", ["archive", revision], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync("tar", ["-x", "-C", directory], { input: archive });
  symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
  return directory;
}

/** Creates tokens with the earlier version's code, so that this version does not migrate first. */
async function createTokensOf(directory: string, database: string): Promise<string[]> {
  const { openStore } = await import(join(directory, "src/store/open.ts"));
  const { issueToken } = await import(join(directory, "src/app/access/issue-token.ts"));
  return createTokens(database, { openStore, issueToken });
}

function git(args: readonly string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
}
