import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { rest, send } from "../support/clients/raw-http.ts";
import { type PostgresPair, queryOn, standbyName, startPostgresPair } from "../support/database/postgres-server.ts";
import { type OtherProcess, startProcess } from "../support/processes/processes.ts";
import { openTcpProxy, type TcpProxy } from "../support/servers/tcp-proxy.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";

interface Setup {
  readonly pair: PostgresPair;
  /** Leads to the primary at first. */
  readonly tcpProxy: TcpProxy;
  /** Stands on the cable. */
  readonly replica: OtherProcess;
  /** Stands on the primary itself. */
  readonly server: TestServer;
  readonly token: string;
  readonly programId: string;
  /** Another service, straight on what was the standby. */
  beyond(): Promise<TestServer>;
}

const portOf = (address: string) => Number(new URL(address).port);
const on = (address: string) => Object.assign(new URL(address), { pathname: "/programme" }).href;

async function openService(database: string): Promise<TestServer> {
  const { server, close } = await openTestServer({ PROGRAMME_DATABASE: database });
  onTestFinished(close);
  server.clock.advance(Date.now() - server.clock.now().getTime());
  return server;
}

async function openSetup(settings: Record<string, string> = {}): Promise<Setup> {
  const pair = await startPostgresPair({ settings: { synchronous_commit: "on", ...settings } });
  onTestFinished(async () => {
    await Promise.all([pair.primary.stop(), pair.standby.stop()]);
  });
  await queryOn(pair.primary.address, "create database programme");
  const server = await openService(on(pair.primary.address));
  const [token, { programId }] = [await server.token(), await server.seed.program()];
  const tcpProxy = await openTcpProxy(portOf(pair.primary.address));
  onTestFinished(() => tcpProxy.close());
  const address = Object.assign(new URL(on(pair.primary.address)), { port: String(tcpProxy.port) }).href;
  const replica = await startProcess(address, { PROGRAMME_LOG_LEVEL: "info", PROGRAMME_REQUESTS_PER_MINUTE: "100000" });
  return { pair, tcpProxy, replica, server, token, programId, beyond: () => openService(on(pair.standby.address)) };
}

/** Returns the answers to many requests at once, so that all connections are used. */
async function statusesOf({ origin }: OtherProcess, token: string, programId: string): Promise<Set<number>> {
  const ask = async () => (await rest({ origin }, token, "get_program", { programId })).status;
  return new Set(await Promise.all(Array.from({ length: 40 }, ask)));
}

async function readiness({ origin }: OtherProcess): Promise<readonly [number, string]> {
  const { status, body } = await send(`${origin}/readyz`, {});
  return [status, body.checks.database];
}

async function revoke({ app }: TestServer, token: string): Promise<void> {
  const found = await app.store.findToken(hashSha256Hex(token));
  await app.store.revokeToken(found?.tokenId ?? "", new Date().toISOString());
}

const write = ({ origin }: OtherProcess, token: string) =>
  rest({ origin }, token, "create_person", { kinds: ["contact"], provenance: { source: "crm" } });

test("once a write has failed on a primary that was replaced and still answers reads, nothing stale is read", async () => {
  const { pair, tcpProxy, replica, server, token, programId, beyond } = await openSetup();
  const revoked = await server.token();
  for (const each of [token, revoked]) expect(await statusesOf(replica, each, programId)).toEqual(new Set([200]));
  expect((await write(replica, token)).status).toBe(201);

  await pair.promote();
  tcpProxy.turnTo(portOf(pair.standby.address));
  // Its connections go on, and it takes no more changes.
  await queryOn(pair.primary.address, "alter system set default_transaction_read_only = on");
  await queryOn(pair.primary.address, "select pg_reload_conf()");
  const other = await beyond();
  const fresh = await other.seed.program();
  await revoke(other, revoked);
  const written = await write(replica, token);
  expect(written.status).toBe(201);
  expect(await statusesOf(replica, token, fresh.programId)).toEqual(new Set([200]));
  const { personId } = written.body.data;
  expect((await rest(replica, token, "get_person", { personId })).status).toBe(200);
  expect(await statusesOf(replica, revoked, programId)).toEqual(new Set([401]));
  expect(await readiness(replica)).toEqual([200, "ok"]);
});

test("a primary that was replaced and goes on taking changes is found out, and never used again", async () => {
  const { pair, tcpProxy, replica, server, token, programId, beyond } = await openSetup();
  const revoked = await server.token();
  expect(await statusesOf(replica, revoked, programId)).toEqual(new Set([200]));
  await pair.promote();
  tcpProxy.turnTo(portOf(pair.standby.address));
  await revoke(await beyond(), revoked);
  await waitFor(async () => expect(await statusesOf(replica, revoked, programId)).toEqual(new Set([401])));
  expect(await statusesOf(replica, token, programId)).toEqual(new Set([200]));
  expect(await readiness(replica)).toEqual([200, "ok"]);
  // Back to the old one, which would take the token.
  tcpProxy.turnTo(portOf(pair.primary.address));
  tcpProxy.cut();
  expect(await statusesOf(replica, revoked, programId)).toEqual(new Set([503]));
  expect(await readiness(replica)).toEqual([503, "failed"]);
  expect(replica.logged().match(/The database cannot be reached/g)).toHaveLength(1);
  expect(replica.logged()).toMatch(/was replaced: it is on timeline 1, its successor on 2/);
  tcpProxy.turnTo(portOf(pair.standby.address));
  expect(await statusesOf(replica, revoked, programId)).toEqual(new Set([401]));
  await waitFor(async () => expect(await readiness(replica)).toEqual([200, "ok"]));
});

test("where only a standby is reached nothing is answered, and readiness says so until it is promoted", async () => {
  const { pair, tcpProxy, replica, token, programId } = await openSetup();
  expect(await statusesOf(replica, token, programId)).toEqual(new Set([200]));
  tcpProxy.turnTo(portOf(pair.standby.address));
  tcpProxy.cut();
  expect(await statusesOf(replica, token, programId)).toEqual(new Set([503]));
  expect(await readiness(replica)).toEqual([503, "standby"]);
  expect(replica.logged().match(/The database cannot be reached/g)).toHaveLength(1);
  expect(replica.logged()).not.toContain("The call could not be answered");
  await pair.promote();
  await waitFor(async () => expect(await readiness(replica)).toEqual([200, "ok"]));
  expect(await statusesOf(replica, token, programId)).toEqual(new Set([200]));
});

test("while a synchronous standby is away reads are answered, readiness says that changes wait, and they do", async () => {
  const { pair, replica, token, programId } = await openSetup();
  await queryOn(pair.primary.address, `alter system set synchronous_standby_names = '${standbyName}'`);
  await queryOn(pair.primary.address, "select pg_reload_conf()");
  expect((await write(replica, token)).status).toBe(201);
  expect(await readiness(replica)).toEqual([200, "ok"]);
  // What workers commit after a write is done by then: caught here, it would keep the tenant's next write waiting.
  await delay(2_000);

  await pair.standby.halt();
  const waiting = write(replica, token);
  await waitFor(async () => expect(await readiness(replica)).toEqual([200, "changes_wait"]));
  // Longer than a lease of permits is good for.
  for (let round = 0; round < 12; round++) {
    expect(await statusesOf(replica, token, programId)).toEqual(new Set([200]));
    await delay(500);
  }
  await pair.standby.resume();
  expect((await waiting).status).toBe(201);
  await waitFor(async () => expect(await readiness(replica)).toEqual([200, "ok"]));
});

test("a change of which a synchronous standby has not said that it has it is not answered as done", async () => {
  const { pair, replica, token } = await openSetup();
  await queryOn(pair.primary.address, `alter system set synchronous_standby_names = '${standbyName}'`);
  await queryOn(pair.primary.address, "select pg_reload_conf()");
  await pair.standby.halt();
  const waiting = write(replica, token).finally(() => clearInterval(cancelling));
  // The server gives the wait up, as it does after a time, and takes the change for committed.
  const cancel = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'";
  const cancelling = setInterval(() => void queryOn(pair.primary.address, cancel).catch(() => undefined), 200);
  const { status, body } = await waiting;
  expect([status, body.error.code]).toEqual([503, "unavailable"]);
});
