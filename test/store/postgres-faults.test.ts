import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openStore, type StoreOptions } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port.ts";
import { createFactory } from "../support/data/seed-factory.ts";
import { openDatabases, runOn } from "../support/database/database-server.ts";
import { type PostgresServer, queryOn, startPostgres } from "../support/database/postgres-server.ts";
import { openTcpProxy, type TcpProxy } from "../support/servers/tcp-proxy.ts";
import { benchOf } from "./conformance.ts";

/** A server of this file's own: it is halted. */
let server: PostgresServer;
let databases: Awaited<ReturnType<typeof openDatabases>>;

beforeAll(async () => {
  server = await startPostgres();
  databases = await openDatabases({ given: server.address });
  return async () => {
    await databases.stop();
    await server.stop();
  };
});

async function copy(): Promise<string> {
  const { database, remove } = await databases.copy();
  onTestFinished(remove);
  return database;
}

async function opened(database: string, options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await openStore({ database, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** A store at the end of a cable. */
async function remote(
  options: Partial<StoreOptions> = {},
): Promise<{ store: Store; tcpProxy: TcpProxy; database: string }> {
  const database = await copy();
  const tcpProxy = await openTcpProxy(Number(new URL(database).port));
  onTestFinished(() => tcpProxy.close());
  const address = Object.assign(new URL(database), { port: String(tcpProxy.port) }).href;
  return { store: await opened(address, options), tcpProxy, database };
}

const unavailable = { code: "unavailable", details: { retryAfterSeconds: 1 } };
const names = async (store: Store) =>
  (await store.reader("biz_one").find("programs", {}, { limit: 50 })).map(({ name }) => name);

describe("a connection that is lost", () => {
  test("in the middle of a transaction makes it run again, and its changes are made once", async () => {
    const { store, tcpProxy } = await remote();
    let runs = 0;
    await benchOf(store).write(async (transaction) => {
      const { program } = createFactory((work) => work(transaction));
      await program({ name: "Before" });
      if (++runs === 1) tcpProxy.cut();
      await program({ name: "After" });
    });
    expect(runs).toBe(2);
    expect((await names(store)).sort()).toEqual(["After", "Before"]);
  });

  test("in the middle of a transaction makes it run again even if the handler catches the error", async () => {
    const { store, tcpProxy } = await remote();
    let runs = 0;
    await benchOf(store).write(async (transaction) => {
      const { program } = createFactory((work) => work(transaction));
      await program({ name: "Before" });
      if (++runs === 1) tcpProxy.cut();
      await transaction.savepoint(() => program({ name: "After" })).catch(() => undefined);
    });
    expect(runs).toBe(2);
    expect((await names(store)).sort()).toEqual(["After", "Before"]);
  });

  test("during the commit is reported as uncertain, and the transaction is not run again", async () => {
    const { store, tcpProxy } = await remote();
    let runs = 0;
    const work = benchOf(store).write(async (transaction) => {
      runs++;
      await createFactory((work) => work(transaction)).program({ name: "Once" });
      tcpProxy.cutAfter("commit");
    });
    await expect(work).rejects.toMatchObject(unavailable);
    expect(runs).toBe(1);
    expect(await names(store)).toEqual(["Once"]);
  });

  test("while it is idle does not affect the next read and the next write", async () => {
    const { store, tcpProxy } = await remote();
    const { seed } = benchOf(store);
    const program = await seed.program();
    for (let round = 0; round < 3; round++) {
      tcpProxy.cut();
      expect(await store.reader("biz_one").get("programs", program.programId)).toEqual(program);
      tcpProxy.cut();
      await seed.program();
    }
    expect(await names(store)).toHaveLength(4);
  });

  test("because the server ends it does not affect the next read and the next write", async () => {
    const { store, database } = await remote();
    const { seed } = benchOf(store);
    const program = await seed.program();
    const others = "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname";
    for (let round = 0; round < 3; round++) {
      await runOn(database, `${others} = current_database()`);
      expect(await store.reader("biz_one").get("programs", program.programId)).toEqual(program);
      await seed.program();
    }
    expect(await names(store)).toHaveLength(4);
  });
});

describe("a server that is gone", () => {
  test("is reported as unavailable, and is used again when it is back", async () => {
    const store = await opened(await copy());
    const { seed, write } = benchOf(store);
    const program = await seed.program();
    await server.halt();
    const refused = [
      seed.program(),
      store.reader("biz_one").get("programs", program.programId),
      store.findToken("0".repeat(64)),
      store.outbox.due("2030-01-01T00:00:00.000Z"),
      store.exportQueue.claim("2030-01-01T00:00:00.000Z", "2030-01-01T00:00:00.000Z"),
      store.mailQueue.lease("2030-01-01T00:00:00.000Z", "2030-01-01T00:00:00.000Z"),
      store.touchTokens(new Map([["tok_1", "2030-01-01T00:00:00.000Z"]])),
    ];
    for (const work of await Promise.allSettled(refused)) {
      expect(work).toMatchObject({ status: "rejected", reason: unavailable });
    }
    const patient = [
      write((transaction) => transaction.get("programs", program.programId)),
      store.reader("biz_one").get("programs", program.programId),
    ];
    await server.resume();
    // A short absence is waited for.
    expect(await Promise.all(patient)).toEqual([program, program]);
    expect(await store.reader("biz_one").get("programs", program.programId)).toEqual(program);
    await seed.program();
    expect(await names(store)).toHaveLength(2);
  });

  test("under load loses no acknowledged write and applies none twice", async () => {
    const database = await copy();
    const stores = [await opened(database), await opened(database)];
    const businesses = ["biz_one", "biz_two"];
    const counters = await Promise.all(
      businesses.map((businessId) =>
        createFactory((work) => benchOf(stores[0] as Store).write(work, businessId)).program({ year: 0 }),
      ),
    );
    const counts = businesses.map(() => ({ done: 0, refused: 0 }));
    let running = true;
    const count = async (store: Store, index: number) => {
      const businessId = businesses[index] as string;
      const programId = counters[index]?.programId as string;
      const own = counts[index] as { done: number; refused: number };
      while (running) {
        const work = benchOf(store).write(async (transaction) => {
          const program = await transaction.get("programs", programId);
          if (program) await transaction.update("programs", program, { year: program.year + 1 });
        }, businessId);
        await work.then(
          () => own.done++,
          (error) => {
            expect(error).toMatchObject(unavailable);
            own.refused++;
          },
        );
      }
    };
    const counting = stores.flatMap((store) => businesses.map((_, index) => count(store, index)));
    for (let fall = 0; fall < 2; fall++) {
      await sleep(300);
      await server.halt();
      await sleep(fall * 2_500);
      await server.resume();
    }
    await sleep(300);
    running = false;
    await Promise.all(counting);
    for (const [index, { done, refused }] of counts.entries()) {
      const reader = (stores[0] as Store).reader(businesses[index] as string);
      const { year } = (await reader.get("programs", counters[index]?.programId as string)) ?? { year: -1 };
      expect(done).toBeGreaterThan(0);
      expect(year).toBeGreaterThanOrEqual(done);
      expect(year).toBeLessThanOrEqual(done + refused);
    }
  });

  test("without closing its connections is reported as unavailable after a timeout", async () => {
    const { store, tcpProxy } = await remote();
    await benchOf(store).seed.program();
    tcpProxy.block(true);
    tcpProxy.cut();
    await expect(names(store)).rejects.toMatchObject(unavailable);
    tcpProxy.block(false);
    tcpProxy.cut();
    expect(await names(store)).toHaveLength(1);
  });
});

describe("waiting", () => {
  test("for another process's transaction ends with a retryable refusal", async () => {
    const database = await copy();
    const store = await opened(database, { busyTimeoutMs: 100 });
    const { seed } = benchOf(store);
    await seed.program();
    const holder = new pg.Client(database);
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query('begin; update "tenantSequences" set "commitNumber" = 1');
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    onTestFinished(() => clearInterval(timer));
    await expect(seed.program()).rejects.toMatchObject(unavailable);
    expect(ticks).toBeGreaterThan(5);
    // Another tenant's is none of its business.
    await expect(createFactory((work) => benchOf(store).write(work, "biz_two")).program()).resolves.toMatchObject({});
    expect(await names(store)).toHaveLength(1);
    await holder.query("rollback");
    await seed.program();
    expect(await names(store)).toHaveLength(2);
  });

  test("for a write leaves connections for reads", async () => {
    const database = await copy();
    const store = await opened(database, { maxConnections: 2, busyTimeoutMs: 2_000 });
    const go = Promise.withResolvers<void>();
    const { write } = benchOf(store);
    const writing = Array.from({ length: 5 }, (_, index) => write(() => go.promise, `biz_${index}`));
    for (let read = 0; read < 20; read++) expect(await names(store)).toEqual([]);
    go.resolve();
    await Promise.all(writing);
  });

  test("the number of connections never exceeds the limit", async () => {
    const database = await copy();
    const store = await opened(database, { maxConnections: 5 });
    const { write } = benchOf(store);
    const most = { connections: 0 };
    const count = "select count(*)::int as n from pg_stat_activity where datname = current_database()";
    const watched = (async () => {
      for (let look = 0; look < 10; look++) {
        const [row] = await queryOn(database, count);
        most.connections = Math.max(most.connections, Number(row?.["n"]) - 1);
      }
    })();
    await Promise.all([
      watched,
      ...Array.from({ length: 200 }, () => names(store)),
      ...Array.from({ length: 50 }, (_, index) => write(async () => undefined, `biz_${index}`)),
    ]);
    expect(most.connections).toBeLessThanOrEqual(5);
    expect(most.connections).toBeGreaterThan(1);
  });
});

test("through a pooler no statement is prepared by name and no connection has settings", async () => {
  const direct = await remote();
  const pooled = await remote({ pooler: true });
  for (const { store } of [direct, pooled]) {
    await benchOf(store).seed.program();
    expect(await names(store)).toHaveLength(1);
  }
  for (const mark of [/set statement_timeout/, /programme_\d+\0/]) {
    expect([mark, mark.test(direct.tcpProxy.sent())]).toEqual([mark, true]);
    expect([mark, mark.test(pooled.tcpProxy.sent())]).toEqual([mark, false]);
  }
});
