import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { rest } from "../support/clients/raw-http.ts";
import { type PostgresServer, startPostgres } from "../support/database/postgres-server.ts";
import { expectConfirmations, expectEvents, expectExports, expectMail, expectSubmissions } from "./checks.ts";
import { callTool, openSession, type ToolAnswer } from "./clients.ts";
import { openReplicaSet, waitUntilSettled } from "./replica-set.ts";

const awayMs = 3_000;

/** Opens a database server with functions that make it fail. Each resolves when the server is back. */
async function openServer(): Promise<
  PostgresServer & { readonly failures: Readonly<Record<string, () => Promise<void>>> }
> {
  // Acknowledged commits must survive the server's end.
  const server = await startPostgres({ settings: { synchronous_commit: "on" } });
  onTestFinished(() => server.stop());
  const ask = async (statement: string) => {
    const client = new pg.Client(server.address);
    client.on("error", () => undefined);
    await client.connect();
    const { rows } = await client.query(statement);
    await client.end().catch(() => undefined);
    return String(rows[0]?.["found"]);
  };
  const failures = {
    async "a backend is killed, and all connections end with it"() {
      const pid = await ask("select max(pid) as found from pg_stat_activity where application_name = 'programme-mcp'");
      process.kill(Number(pid), "SIGKILL");
      await delay(awayMs);
    },
    async "it is shut down fast and starts again"() {
      await server.halt();
      await delay(awayMs);
      await server.resume();
    },
    async "it ends at once, and starts again with what it has written"() {
      const [pid] = (await ask("select pg_read_file('postmaster.pid') as found")).split("\n");
      process.kill(Number(pid), "SIGQUIT");
      await delay(awayMs);
      await server.resume();
    },
  };
  return { ...server, failures };
}

/** Sends requests to a replica over REST and over both revisions of MCP until `stop`. Returns the answers. */
function askOn(origin: string, token: string, session: string, programId: string) {
  const refusals: Omit<ToolAnswer, "confirmation">[] = [];
  let asking = true;
  const call = { name: "get_program", args: { programId } };
  const request = (async () => {
    for (; asking; await delay(100)) {
      const { status, headers, body } = await rest({ origin }, token, "get_program", { programId });
      refusals.push({ status, data: body.data, code: body.error?.code, retryAfter: headers.get("retry-after") ?? "" });
      for (const of of [undefined, session]) refusals.push(await callTool(origin, token, call, of));
    }
  })();
  // `stop` reports errors.
  request.catch(() => undefined);
  return async () => {
    asking = false;
    await request;
    return refusals;
  };
}

/** Expects that every refused client got an error of the catalogue that says when to retry. */
function expectClean(refusals: readonly ToolAnswer[], name: string): void {
  const refused = refusals.filter(({ data }) => data === undefined);
  for (const { status, code, retryAfter } of refused) {
    expect([status, code], name).toEqual([expect.toBeOneOf([200, 503]), "unavailable"]);
    if (status === 503) expect(retryAfter, name).toMatch(/^[1-9]\d*$/);
  }
}

test("no data is lost when the database goes away and comes back", async () => {
  const server = await openServer();
  const replicaSet = await openReplicaSet({ count: 2, limit: 100_000, given: server.address });
  const { server: testServer, mixed, replicas } = replicaSet;
  const token = await testServer.token();
  const { programId } = await testServer.seed.program();
  const [origin = "", other = ""] = replicas.map((replica) => replica.origin);
  const session = await openSession(other, token);
  await mixed.start();
  for (const [name, fail] of Object.entries(server.failures)) {
    await delay(1_500);
    const stop = askOn(origin, token, session, programId);
    const before = mixed.submissions.size;
    await fail();
    await expect.poll(() => mixed.submissions.size, { timeout: 60_000, message: name }).toBeGreaterThan(before + 2);
    const refusals = await stop();
    expectClean(refusals, name);
    expect(refusals.at(-1)?.data, name).toMatchObject({ programId });
  }
  await mixed.stop();
  await waitUntilSettled(replicaSet);
  await expectSubmissions(replicaSet);
  await expectEvents(replicaSet);
  await expectConfirmations(replicaSet);
  // Surviving processes know the result of each message.
  expect(await expectMail(replicaSet)).toBe(0);
  await expectExports(replicaSet);
  expect([...mixed.tally.counts.keys()].filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
  for (const replica of replicas) expect(await replica.stop(), replica.output()).toBe(0);
}, 300_000);
