import { beforeAll, expect, test } from "vitest";
import type { OperationName } from "../../src/contract/index.ts";
import { rest } from "../support/clients/raw-http.ts";
import { createSettings } from "../support/database/database-settings.ts";
import { type PostgresPair, queryOn, startPostgresPair } from "../support/database/postgres-server.ts";
import { freePort } from "../support/processes/free-port.ts";
import { type Ending, type OtherProcess, startProcess } from "../support/processes/processes.ts";
import { openHome } from "../support/processes/program.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import { callTool } from "./clients.ts";

/** Two processes that read lists from a standby of their database. */
let processes: readonly [OtherProcess, OtherProcess];
let pair: PostgresPair;
let token: string;
let metricsAddress: string;

const on = (address: string) => Object.assign(new URL(address), { pathname: "/programme" }).href;

beforeAll(async () => {
  const ends: (() => Promise<void>)[] = [];
  const ending: Ending = (end) => void ends.unshift(end);
  pair = await startPostgresPair({ settings: { synchronous_commit: "on" } });
  ending(async () => void (await Promise.all([pair.primary.stop(), pair.standby.stop()])));
  await queryOn(pair.primary.address, "create database programme");
  const { server, close } = await openTestServer({ PROGRAMME_DATABASE: on(pair.primary.address) });
  ending(close);
  server.clock.advance(Date.now() - server.clock.now().getTime());
  token = await server.token();
  const settings = {
    PROGRAMME_DATABASE_READ_REPLICAS: on(pair.standby.address),
    PROGRAMME_LOG_LEVEL: "info",
    PROGRAMME_PRIVACY: "off",
    PROGRAMME_REQUESTS_PER_MINUTE: "1000000",
  };
  metricsAddress = `127.0.0.1:${await freePort()}`;
  const start = (own: Record<string, string> = {}) =>
    startProcess(on(pair.primary.address), { ...settings, ...own }, { ending });
  processes = [await start({ PROGRAMME_METRICS: metricsAddress }), await start()];
  return async () => {
    for (const end of ends) await end();
  };
});

/** Sends a request and expects that it succeeds. */
async function ask(process: OtherProcess, name: OperationName, input: Readonly<Record<string, unknown>>) {
  const { status, body } = await rest(process, token, name, input);
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body.data;
}

async function createPerson(process: OtherProcess, lastName = "Archer"): Promise<string> {
  const person = { kinds: ["contact"], provenance: { source: "crm" }, contactDetails: { lastName } };
  return (await ask(process, "create_person", person)).personId;
}

const listPersons = async (process: OtherProcess, limit = 100): Promise<string[]> =>
  (await ask(process, "list_persons", { limit })).map(({ personId }: { personId: string }) => personId);

/** Returns the last statement of each connection of the processes to the standby. */
async function listStatements(): Promise<{ query: string; at: string }[]> {
  return queryOn(
    pair.standby.address,
    "select query, query_start::text as at from pg_stat_activity where application_name = 'programme-mcp'",
  );
}

/** Returns whether the standby answers a list. */
async function readsFromStandby(process: OtherProcess): Promise<boolean> {
  const lastList = async () =>
    (await listStatements())
      .filter(({ query }) => query.includes('from "persons"'))
      .map(({ at }) => at)
      .toSorted()
      .at(-1);
  const before = await lastList();
  await listPersons(process);
  return (await lastList()) !== before;
}

const untilRead = (expected: boolean) =>
  waitFor(async () => {
    for (const process of processes) expect(await readsFromStandby(process)).toBe(expected);
  });

test("a list from a standby has every change that any process has acknowledged, and the standby gets no writes", async () => {
  await untilRead(true);
  const [first, second] = processes;
  const work = async (writing: OtherProcess, reading: OtherProcess, name: string) => {
    for (let round = 0; round < 20; round++) {
      const words = `${name}${round}`;
      const personId = await createPerson(writing, words);
      expect(await listPersons(reading)).toContain(personId);
      const { data } = await callTool(reading.origin, token, { name: "search_records", args: { words } });
      expect(data.results).toContainEqual(expect.objectContaining({ id: personId }));
    }
  };
  await Promise.all([work(first, second, "Baker"), work(second, first, "Cooper")]);
  await untilRead(true);
  const statements = (await listStatements()).map(({ query }) => query);
  expect(statements.filter((query) => !/^(select|set statement_timeout) /.test(query))).toEqual([]);
  for (const process of processes) expect(process.logged()).not.toContain('"level":50');
});

/** Returns how many lists of the first process a server answered. */
async function countReads(server: "primary" | "replica"): Promise<number> {
  const text = await (await fetch(`http://${metricsAddress}/metrics`)).text();
  const [, count = "0"] = new RegExp(`list_reads_total\\{server="${server}"\\} (\\d+)`).exec(text) ?? [];
  return Number(count);
}

test("a metric counts which server answers lists", async () => {
  await untilRead(true);
  const [before, onPrimary] = [await countReads("replica"), await countReads("primary")];
  await listPersons(processes[0]);
  expect(await countReads("replica")).toBe(before + 1);
  await queryOn(pair.standby.address, "select pg_wal_replay_pause()");
  await createPerson(processes[0]);
  await listPersons(processes[0]);
  expect(await countReads("replica")).toBe(before + 1);
  expect(await countReads("primary")).toBeGreaterThan(onPrimary);
  await queryOn(pair.standby.address, "select pg_wal_replay_resume()");
});

test("doctor tells which replicas can be used, and why the others cannot", async () => {
  const home = await openHome();
  const { host } = new URL(pair.standby.address);
  const closed = `127.0.0.1:${await freePort()}`;
  const primary = new URL(pair.primary.address).host;
  const replicas = on(pair.standby.address).replace(host, `${host},${closed},${primary}`);
  const database = on(pair.primary.address);
  const settings = { PROGRAMME_DATABASE: database, ...createSettings(database) };
  const { stdout } = await home.run(["doctor", "--json"], { ...settings, PROGRAMME_DATABASE_READ_REPLICAS: replicas });
  const checks: { name: string; status: string; found: string }[] = JSON.parse(stdout).checks;
  const found = checks.filter(({ name }) => name === "read replica").map(({ status, found }) => `${status}: ${found}`);
  expect(found).toEqual([
    `ok: ${host} has all changes of the database.`,
    expect.stringMatching(`^warn: ${closed} cannot be used: .+ The primary answers in its place\\.$`),
    `warn: ${primary} cannot be used: it is not a standby of another server. The primary answers in its place.`,
  ]);
  expect(stdout).not.toContain(new URL(database).password);
});

test("a standby that lacks a change of the organisation is not used, and one that stays behind is not used at all", async () => {
  await untilRead(true);
  const [first, second] = processes;
  await queryOn(pair.standby.address, "select pg_wal_replay_pause()");
  const personId = await createPerson(first);
  expect(await listPersons(second)).toContain(personId);
  expect(await readsFromStandby(second)).toBe(false);
  await queryOn(pair.standby.address, "select pg_wal_replay_resume()");
  await untilRead(true);
  // Changes of others: the standby has all of this organisation.
  await queryOn(pair.standby.address, "select pg_wal_replay_pause()");
  await queryOn(pair.primary.address, "create table unrelated (id int)");
  await untilRead(false);
  await queryOn(pair.standby.address, "select pg_wal_replay_resume()");
  await untilRead(true);
});

test("lists are answered by the primary while the standby is down, and after it was promoted", async () => {
  await untilRead(true);
  const [first, second] = processes;
  let asking = true;
  const load = processes.map(async (process) => {
    while (asking) await listPersons(process, 5);
  });
  await pair.standby.halt();
  for (const process of processes) {
    await waitFor(async () => expect(process.logged()).toContain("A read replica cannot be used"));
  }
  const personId = await createPerson(first);
  expect(await listPersons(second)).toContain(personId);
  await pair.standby.resume();
  await untilRead(true);
  await pair.promote();
  await queryOn(on(pair.standby.address), 'delete from "persons"');
  await waitFor(async () => expect(second.logged()).toContain("it is not a standby of another server"));
  expect(await listPersons(second)).toContain(personId);
  asking = false;
  await Promise.all(load);
  for (const process of processes) expect(process.logged()).not.toContain('"level":50');
});
