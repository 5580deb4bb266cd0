import { setTimeout as delay } from "node:timers/promises";
import { queryOn, standbyName, startPostgresPair } from "../../test/support/database/postgres-server.ts";
import { countLosses, createTokens, type LoadReport, startLoad } from "./load.ts";
import { atEnd, openBench, startProgram } from "./program.ts";

export interface Promotion extends LoadReport {
  readonly isSynchronous: boolean;
  /** Time for which the standby had not been connected when the primary ended. */
  readonly disconnectedMs: number;
  readonly lost: number;
  readonly doubled: number;
  /** Time from the end of the primary to the next acknowledged change. */
  readonly unavailableMs: number;
}

const loadMs = 6_000;

/** Ends a primary under load, promotes its standby, and counts the acknowledged changes that are missing there. */
export async function measurePromotion(isSynchronous: boolean, disconnectedMs: number): Promise<Promotion> {
  const pair = await startPostgresPair({ settings: { fsync: "on", synchronous_commit: "on" } });
  const { primary, standby } = pair;
  atEnd(() => standby.stop());
  if (isSynchronous) {
    await queryOn(primary.address, `alter system set synchronous_standby_names = '${standbyName}'`);
    await queryOn(primary.address, "select pg_reload_conf()");
  }
  await queryOn(primary.address, "create database programme");
  const [first, second] = [primary, standby].map(({ address }) => new URL(address)) as [URL, URL];
  const tokens = await createTokens(Object.assign(new URL(first), { pathname: "/programme" }).href);
  const both = `postgres://${first.username}:${first.password}@${first.host},${second.host}/programme`;
  const programs = [await startProgram(both), await startProgram(both)];
  const balancer = await openBench(programs.map(({ origin }) => origin));
  const load = startLoad(balancer.origin, tokens);
  await delay(loadMs);
  const [postmaster] = await queryOn(primary.address, "select pg_read_file('postmaster.pid') as lines");
  // A standby connects again at once, and after that every five seconds.
  for (const endMs = performance.now() + disconnectedMs; performance.now() < endMs; await delay(10)) {
    await queryOn(primary.address, "select pg_terminate_backend(pid) from pg_stat_replication");
  }
  const endedMs = performance.now();
  process.kill(Number(postmaster.lines.split("\n")[0]), "SIGQUIT");
  await delay(50);
  const before = load.acknowledged.size;
  await queryOn(standby.address, "select pg_promote()");
  while (load.acknowledged.size === before) await delay(5);
  const unavailableMs = Math.round(performance.now() - endedMs);
  await delay(loadMs / 2);
  const report = await load.stop();
  const losses = await countLosses(Object.assign(new URL(second), { pathname: "/programme" }).href, load.acknowledged);
  return { isSynchronous, disconnectedMs, ...report, ...losses, unavailableMs };
}
