import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import type { EventPayload } from "../../src/contract/events.ts";
import { createId } from "../../src/lib/ids.ts";
import { inspectStore, openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port.ts";
import { createFactory } from "../support/data/seed-factory.ts";
import { benchOf, now } from "./conformance.ts";
import { entry, token } from "./ledgers.ts";
import { allApplied } from "./migrations.ts";

async function opened(database: string): Promise<Store> {
  const store = await openStore({ database });
  onTestFinished(() => store.close());
  return store;
}

/** Tests several processes, and connections of one, on one database; each `make` gives an empty one. */
export function processes(make: () => Promise<string>): void {
  const run = promisify(execFile);
  const other = (...args: string[]) =>
    run(process.execPath, [fileURLToPath(new URL("./process.ts", import.meta.url)), ...args]);

  test("can start at the same time on a new database", async () => {
    const database = await make();
    await Promise.all([
      other(database, "0"),
      other(database, "0"),
      openStore({ database }).then((store) => store.close()),
    ]);
    expect(await inspectStore({ database })).toEqual(allApplied);
  });

  test("lose no write of another process, and share one rate limit", async () => {
    const database = await make();
    const store = await opened(database);
    const { seed, write } = benchOf(store);
    const { programId } = await seed.program({ year: 2000 });
    const nowMs = 1_000_000_000_000;
    const others = [other(database, "40", programId, String(nowMs)), other(database, "40", programId, String(nowMs))];
    let granted = 0;
    for (let round = 0; round < 40; round++) {
      await write(async (transaction) => {
        const program = await transaction.get("programs", programId);
        if (program) await transaction.update("programs", program, { year: program.year + 1 });
      });
      const request = { tokenId: "tok_1", limit: 50, windowMs: 60_000, chunk: 3, leaseMs: 5_000, nowMs, settle: [] };
      granted += (await store.leasePermits(request)).lease?.granted ?? 0;
    }
    for (const { stdout } of await Promise.all(others)) granted += Number(stdout);
    expect(await store.reader("biz_one").get("programs", programId)).toMatchObject({ year: 2120, version: 120 });
    expect(granted).toBe(50);
  });

  test("accept a token that another process issued or revoked at once", async () => {
    const database = await make();
    const [one, two] = [await opened(database), await opened(database)];
    const issued = token({});
    expect(await one.findToken(issued.sha256)).toBeUndefined();
    await two.insertToken(issued);
    for (const store of [one, two, one]) expect(await store.findToken(issued.sha256)).toEqual(issued);
    await two.revokeToken(issued.tokenId, issued.createdAt);
    for (const store of [one, two]) {
      expect(await store.findToken(issued.sha256)).toEqual({ ...issued, revokedAt: issued.createdAt });
    }
  });

  test("read while another writes", async () => {
    const database = await make();
    const [one, two] = [await opened(database), await opened(database)];
    const { seed, write } = benchOf(one);
    const program = await seed.program({ name: "Before" });
    await write(async (transaction) => {
      await transaction.update("programs", program, { name: "After" });
      for (const store of [one, two])
        expect(await store.reader("biz_one").get("programs", program.programId)).toEqual(program);
    });
    for (const store of [one, two]) {
      expect(await store.reader("biz_one").get("programs", program.programId)).toMatchObject({ name: "After" });
    }
  });

  test("show a reader that continues after a commit number all that they write, whatever their clocks say", async () => {
    const database = await make();
    const [one, two, third] = [await opened(database), await opened(database), await opened(database)];
    const reader = third.reader("biz_one");
    const seen = { persons: new Set<string>(), changes: new Set<string>(), events: new Set<string>() };
    const last = { updatedAt: "", changes: 0, events: 0 };
    const look = async () => {
      const where = { updatedAt: { gt: last.updatedAt } };
      const { rows: persons } = await reader.page("persons", { where }, "changed", { limit: 200 });
      for (const { personId, updatedAt } of persons) {
        seen.persons.add(personId);
        last.updatedAt = updatedAt;
      }
      for (const { entityId, commitNumber } of await reader.changesAfter(last.changes, 200)) {
        seen.changes.add(String(entityId));
        last.changes = commitNumber;
      }
      for (const { payload, commitNumber } of await reader.eventsAfter(last.events, 200)) {
        seen.events.add(String(payload.data["personId"]));
        last.events = commitNumber ?? 0;
      }
    };
    const written: string[] = [];
    const write = (store: Store, skewMs: number) => async () => {
      const at = new Date(Date.parse(now) + skewMs + written.length).toISOString();
      await store.transaction({ businessId: "biz_one", actorId: "usr_1", now: at }, async (transaction) => {
        const { personId } = await createFactory((work) => work(transaction)).person();
        await transaction.appendEvents([eventOf(personId, at)]);
        await new Promise((resolve) => setTimeout(resolve, 5 * Math.random()));
        await transaction.appendAudit([entry({ entityType: "person", entityId: personId, occurredAt: at })]);
        written.push(personId);
      });
    };
    const writers = [write(one, 0), write(two, 7_000), write(one, -7_000), write(two, 0)];
    let writing = true;
    const looking = (async () => {
      while (writing) {
        await look();
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const all = writers.map(async (each) => {
      for (let round = 0; round < 15; round++) await each();
    });
    await Promise.all(all).finally(() => {
      writing = false;
    });
    await looking;
    await look();
    for (const ids of Object.values(seen)) expect([...ids].toSorted()).toEqual(written.toSorted());
    expect(last.changes).toBe(60);
    expect(await reader.lastCommitNumber()).toBe(60);
  });
}

function eventOf(personId: string, timestamp: string): EventPayload {
  return { eventType: "person.updated", eventId: createId("evt"), timestamp, data: { personId } } as never;
}
