import { connect, createServer } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { defaultBusyTimeoutMs, inspectStore, openStore } from "../../src/store/open.ts";
import { type Databases, openDatabases } from "../support/database/database-server.ts";
import { createSettings } from "../support/database/database-settings.ts";
import { freePort } from "../support/processes/free-port.ts";
import { type Home, openHome } from "../support/processes/program.ts";
import { waitFor } from "../support/wait.ts";

let databases: Databases;

beforeAll(async () => {
  databases = await openDatabases({ given: inject("postgres") });
  return () => databases.stop();
});

async function emptyOnServer(): Promise<string> {
  const { database, remove } = await databases.empty();
  onTestFinished(remove);
  return database;
}

const kinds: readonly (readonly [string, (home: Home) => Promise<string>])[] = [
  ["a file", async (home) => home.database],
  ["PostgreSQL", emptyOnServer],
];

async function organisationsIn(database: string): Promise<string[]> {
  const store = await openStore({ database });
  try {
    return (await store.listBusinesses()).map(({ name }) => name).toSorted();
  } finally {
    await store.close();
  }
}

const both = ["Aldersund Foundation", "Harbourlight Arts Trust"];

describe.each(kinds)("an empty database in %s", (_, make) => {
  test("is filled once, by one of several processes", async () => {
    const home = await openHome();
    const database = await make(home);
    const environment = { PROGRAMME_DATABASE: database, ...createSettings(database) };
    const serving = Array.from({ length: 3 }, () => home.start(["http", "--demo", "--port", "0"], environment));
    for (const each of serving) await each.printed(/ {2}MCP {3}http/);
    for (const each of serving) expect((await each.stop()).code).toBe(0);
    expect(await organisationsIn(database)).toEqual(both);
  });

  test("stays empty when the process that fills it is killed, and is filled by the next", async () => {
    const home = await openHome();
    const database = await make(home);
    const environment = { PROGRAMME_DATABASE: database, ...createSettings(database) };
    const killed = home.start(["seed", "--demo", "--scale", "50"], environment);
    await waitFor(async () => expect(await inspectStore({ database })).toMatchObject({ pending: [] }));
    await killed.stop("SIGKILL");
    expect(await organisationsIn(database)).toEqual([]);
    const filled = await home.run(["seed", "--demo"], environment);
    expect([filled.code, filled.stderr]).toEqual([0, expect.not.stringContaining("already")]);
    expect(await organisationsIn(database)).toEqual(both);
  });
});

test("a start waits while another process fills the database for longer than a transaction waits", async () => {
  const home = await openHome();
  await (await openStore({ database: home.database })).close();
  const other = new DatabaseSync(home.database);
  onTestFinished(() => other.close());
  other.exec("BEGIN IMMEDIATE");
  const serving = home.start(["http", "--demo", "--port", "0"], { PROGRAMME_DATABASE: home.database });
  // The start takes about a second until it finds the database empty.
  await delay(defaultBusyTimeoutMs + 2_000);
  expect(serving.process.exitCode).toBe(null);
  other.exec("ROLLBACK");
  await serving.printed(/ {2}MCP {3}http/);
  expect((await serving.stop()).code).toBe(0);
  expect(await organisationsIn(home.database)).toEqual(both);
});

test("a start without the key creates nothing", async () => {
  const home = await openHome();
  const database = await emptyOnServer();
  const { code, stderr } = await home.run(["http", "--port", "0"], { PROGRAMME_DATABASE: database });
  expect([code, stderr]).toEqual([2, expect.stringContaining("PROGRAMME_SECRET_KEY is needed")]);
  expect(await inspectStore({ database })).toMatchObject({ applied: [] });
});

test("a start waits for a database server that is not ready yet", async () => {
  const [home, port] = [await openHome(), await freePort()];
  const database = await emptyOnServer();
  const environment = {
    ...createSettings(database),
    PROGRAMME_DATABASE: Object.assign(new URL(database), { port: String(port) }).href,
  };
  const serving = home.start(["http", "--port", "0"], environment);
  await waitFor(() =>
    expect(serving.output()).toMatch(/waited for.*nothing listens there|nothing listens.*waited for/),
  );
  const { hostname, port: behind } = new URL(database);
  const relay = createServer((socket) => {
    const server = connect(Number(behind), hostname);
    socket.on("error", () => server.destroy()).pipe(server);
    server.on("error", () => socket.destroy()).pipe(socket);
  });
  onTestFinished(() => void relay.close());
  relay.listen(port, "127.0.0.1");
  await serving.printed(/ {2}MCP {3}http/);
  expect((await serving.stop()).code).toBe(0);
});
