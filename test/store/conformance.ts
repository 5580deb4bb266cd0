import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { createId } from "../../src/lib/ids.ts";
import type { PipelineTransaction, Store } from "../../src/store/port.ts";
import { type NewRow, type TableName, tables, toRefKey } from "../../src/store/tables.ts";
import { createFactory } from "../support/data/seed-factory.ts";
import { arbitraryOf } from "./arbitrary.ts";
import { ledgers } from "./ledgers.ts";
import { lists } from "./lists.ts";
import { permits } from "./rate-limit-leases.ts";
import { sessions } from "./sessions.ts";

export const now = "2026-11-20T09:00:00.000Z";

/** A store to test and how to make rows in it. */
export interface Bench {
  readonly store: Store;
  readonly seed: ReturnType<typeof createFactory>;
  write<R>(work: (transaction: PipelineTransaction) => Promise<R>, businessId?: string): Promise<R>;
}

export function benchOf(store: Store): Bench {
  const write: Bench["write"] = (work, businessId = "biz_one") =>
    store.transaction({ businessId, actorId: "usr_test", now }, work);
  return { store, write, seed: createFactory(write) };
}

/** Tests every store on any database. `open` returns an empty store and closes it after the test. */
export function conformance(open: () => Promise<Store>): void {
  let bench: Bench;
  beforeEach(async () => {
    bench = benchOf(await open());
  });
  describe("rows", () => rows(() => bench));
  describe("members", () => members(() => bench));
  describe("transactions", () => transactions(() => bench));
  describe("lists", () => lists(() => bench));
  describe("ledgers", () => ledgers(() => bench));
  describe("permits", () => permits(() => bench));
  describe("sessions", () => sessions(() => bench));
}

function rows(bench: () => Bench): void {
  test("an inserted row has its tenant, version 0, times and actors, and is read back unchanged", async () => {
    const { store, seed } = bench();
    const program = await seed.program({ description: null, branding: { pages: { landing: { heroTitle: "Föhn" } } } });
    expect(program).toMatchObject({
      businessId: "biz_one",
      version: 0,
      createdAt: now,
      updatedAt: now,
      createdBy: "usr_test",
      updatedBy: "usr_test",
    });
    expect(await store.reader("biz_one").get("programs", program.programId)).toStrictEqual(program);
  });

  test.each(Object.keys(tables) as TableName[])("%s: any record is read back as it was written", async (table) => {
    const { write } = bench();
    const undo = new Error("undo");
    await fc.assert(
      fc.asyncProperty(arbitraryOf(tables[table].record), async (record) => {
        const work = write(async (transaction) => {
          const inserted = await transaction.insert(table, record as NewRow<typeof table>);
          const id = (record as Record<string, string>)[tables[table].id] as string;
          expect(inserted).toMatchObject(inserted);
          expect(await transaction.get(table, id)).toStrictEqual(inserted);
          const { businessId, version, createdAt, updatedAt, createdBy, updatedBy, ...rest } = inserted;
          expect({ ...(record as object), ...rest }).toStrictEqual(record);
          // What it refers to does not exist, which would be refused on commit.
          throw undo;
        });
        await expect(work).rejects.toBe(undo);
      }),
      { numRuns: 20 },
    );
  });

  test("another tenant does not find a row", async () => {
    const { store, seed, write } = bench();
    const program = await seed.program();
    const person = await seed.person();
    const other = store.reader("biz_two");
    expect(await other.get("programs", program.programId)).toBeUndefined();
    expect(await other.find("programs", {}, { limit: 10 })).toEqual([]);
    expect((await other.page("programs", {}, "newest", { limit: 10 })).rows).toEqual([]);
    expect(await other.count("programs", {})).toBe(0);
    expect(await other.find("persons", { has: { email: "grace@example.org" } }, { limit: 10 })).toEqual([]);
    const foreign = write(
      (transaction) => transaction.update("persons", { ...person, businessId: "biz_one" }, { kinds: [] }),
      "biz_two",
    );
    await expect(foreign).rejects.toMatchObject({ code: "not_found" });
    expect(await store.reader("biz_one").get("persons", person.personId)).toEqual(person);
  });

  test("an update increments the version and sets time and actor; undefined keeps a value, null clears it", async () => {
    const { store, seed } = bench();
    const person = await seed.person({ platformUserId: "usr_9" });
    const updated = await store.transaction(
      { businessId: "biz_one", actorId: "usr_2", now: "2026-11-21T00:00:00.000Z" },
      (transaction) =>
        transaction.update("persons", person, { primaryEmail: undefined, platformUserId: null, kinds: ["contact"] }),
    );
    const { platformUserId: _, ...rest } = person;
    expect(updated).toStrictEqual({
      ...rest,
      kinds: ["contact"],
      version: 1,
      updatedAt: "2026-11-21T00:00:00.000Z",
      updatedBy: "usr_2",
    });
    expect(await store.reader("biz_one").get("persons", person.personId)).toStrictEqual(updated);
  });

  test("a patch that changes nothing writes nothing", async () => {
    const { store, seed, write } = bench();
    const person = await seed.person({ metadata: { a: 1, b: [{ c: 2, d: 3 }] } });
    await write(async (transaction) => {
      const same = { metadata: { b: [{ d: 3, c: 2 }], a: 1 }, active: true, anonymizedAt: null, platformUserId: null };
      expect(await transaction.update("persons", person, same)).toBe(person);
      expect(transaction.changes).toEqual([]);
    });
    expect(await store.reader("biz_one").get("persons", person.personId)).toEqual(person);
  });

  test("a row that changed since it was read is not overwritten", async () => {
    const { store, seed, write } = bench();
    const read = await seed.program();
    await write((transaction) => transaction.update("programs", read, { name: "First" }));
    const second = write((transaction) => transaction.update("programs", read, { name: "Second" }));
    await expect(second).rejects.toMatchObject({ code: "version_conflict", details: { currentVersion: 1 } });
    const removal = write((transaction) => transaction.remove("programs", read));
    await expect(removal).rejects.toMatchObject({ code: "version_conflict", details: { currentVersion: 1 } });
    expect(await store.reader("biz_one").get("programs", read.programId)).toMatchObject({ name: "First", version: 1 });
  });

  test("a patch cannot change the columns that the store maintains", async () => {
    const { seed, write } = bench();
    const program = await seed.program();
    const forged = { businessId: "biz_two", version: 9, createdBy: "x" } as object;
    expect(await write((transaction) => transaction.update("programs", program, forged))).toEqual(program);
  });

  test("an id with several versions is read as the latest, and each version changes alone", async () => {
    const { store, seed, write } = bench();
    const schemaId = createId("sch");
    const [first] = [
      await seed.schema({ schemaId }),
      await seed.schema({ schemaId, schemaVersion: 2, name: "Second" }),
    ];
    const reader = store.reader("biz_one");
    expect(await reader.get("schemas", schemaId)).toMatchObject({ schemaVersion: 2 });
    await write((transaction) => transaction.update("schemas", first, { published: false }));
    const all = await reader.find("schemas", { where: { schemaId } }, { limit: 10, orderBy: "schemaVersion" });
    expect(all.map(({ published, version }) => [published, version])).toEqual([
      [false, 1],
      [true, 0],
    ]);
  });
}

function members(bench: () => Bench): void {
  const holders = async (ref: { namespace: string; objectType: string; externalId: string }) =>
    (
      await bench()
        .store.reader("biz_one")
        .find("persons", { has: { ref: toRefKey(ref) } }, { limit: 10 })
    ).map(({ personId }) => personId);

  test("a row is found by its members, and not by removed members", async () => {
    const { seed, write } = bench();
    const [first, second] = ["1", "2"].map((externalId) => ({
      namespace: "crm",
      objectType: "contact",
      externalId,
    })) as never as [
      { namespace: string; objectType: string; externalId: string },
      { namespace: string; objectType: string; externalId: string },
    ];
    const person = await seed.person({ externalRefs: [first, first] });
    expect(await holders(first)).toEqual([person.personId]);
    const updated = await write((transaction) => transaction.update("persons", person, { externalRefs: [second] }));
    expect([await holders(first), await holders(second)]).toEqual([[], [person.personId]]);
    await write((transaction) => transaction.remove("persons", updated));
    expect(await holders(second)).toEqual([]);
  });

  test("an external reference belongs to one person of a tenant, and several persons may share an address", async () => {
    const { seed, write, store } = bench();
    const externalRefs = [{ namespace: "crm", objectType: "contact", externalId: "1" }];
    const person = await seed.person({ externalRefs });
    await expect(seed.person({ externalRefs })).rejects.toThrow();
    const namesake = await seed.person({ primaryEmail: "GRACE@example.org" });
    const { version: _, ...copy } = { ...person, personId: createId("per") };
    await write((transaction) => transaction.insert("persons", copy), "biz_two");
    const found = await store.reader("biz_one").find("persons", { has: { email: "grace@example.org" } }, { limit: 10 });
    expect(found.map(({ personId }) => personId).sort()).toEqual([person.personId, namesake.personId].sort());
  });

  test("an address belongs to one reviewer of a tenant, whatever its case", async () => {
    const { seed } = bench();
    await seed.reviewer({ email: "rita@example.org" });
    await expect(seed.reviewer({ email: "Rita@Example.org" })).rejects.toThrow();
  });

  test("a query for several members finds rows that have all of them", async () => {
    const { seed, store } = bench();
    const both = await seed.reviewer({ programIds: ["prg_1"], roundIds: ["rnd_1", "rnd_2"] });
    await seed.reviewer({ programIds: ["prg_1"], roundIds: ["rnd_2"] });
    const query = { has: { programIds: "prg_1", roundIds: "rnd_1", email: undefined } };
    expect((await store.reader("biz_one").page("reviewers", query, "newest", { limit: 10 })).rows).toEqual([both]);
    expect(await store.reader("biz_one").count("reviewers", query)).toBe(1);
  });
}

function transactions(bench: () => Bench): void {
  const names = async () =>
    (await bench().store.reader("biz_one").find("programs", {}, { limit: 10 })).map(({ name }) => name);
  const newProgram = async (transaction: PipelineTransaction, name: string) =>
    createFactory((work) => work(transaction)).program({ name });

  test("a transaction that fails leaves nothing behind", async () => {
    const { write } = bench();
    const cause = new Error("cause");
    const work = write(async (transaction) => {
      await newProgram(transaction, "Lost");
      throw cause;
    });
    await expect(work).rejects.toBe(cause);
    expect(await names()).toEqual([]);
  });

  test("uncommitted changes are not visible to readers", async () => {
    const { write } = bench();
    const seen: string[][] = [];
    const written = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const work = write(async (transaction) => {
      await newProgram(transaction, "New");
      written.resolve();
      await go.promise;
      throw new Error("undo");
    });
    await written.promise;
    const read = names().then((found) => seen.push(found));
    setTimeout(go.resolve, 20);
    await expect(work).rejects.toThrow("undo");
    await read;
    expect(seen).toEqual([[]]);
  });

  test("transactions of a tenant run one after another, and no change is lost", async () => {
    const { seed, write, store } = bench();
    const { programId } = await seed.program({ year: 2000 });
    await Promise.all(
      Array.from({ length: 20 }, () =>
        write(async (transaction) => {
          const program = await transaction.get("programs", programId);
          if (!program) throw new Error("gone");
          await new Promise((resolve) => setImmediate(resolve));
          await transaction.update("programs", program, { year: program.year + 1 });
        }),
      ),
    );
    expect(await store.reader("biz_one").get("programs", programId)).toMatchObject({ year: 2020, version: 20 });
  });

  test("changes are recorded with the row before and after", async () => {
    const { seed, write } = bench();
    const old = await seed.program({ name: "Old" });
    await write(async (transaction) => {
      const created = await newProgram(transaction, "Created");
      const updated = await transaction.update("programs", old, { name: "Updated" });
      await transaction.remove("programs", created);
      expect(transaction.changes).toEqual([
        { table: "programs", id: created.programId, after: created },
        { table: "programs", id: old.programId, before: old, after: updated },
        { table: "programs", id: created.programId, before: created },
      ]);
    });
  });

  test("a savepoint that fails rolls back only its own writes and changes", async () => {
    const { write } = bench();
    await write(async (transaction) => {
      await newProgram(transaction, "Kept");
      const failing = transaction.savepoint(async () => {
        await newProgram(transaction, "Lost");
        await transaction.savepoint(() => newProgram(transaction, "Lost too"));
        throw new Error("undo");
      });
      await expect(failing).rejects.toThrow("undo");
      expect(transaction.changes).toHaveLength(1);
      await transaction.savepoint(() => newProgram(transaction, "Kept too"));
      expect(transaction.changes).toHaveLength(2);
    });
    expect((await names()).sort()).toEqual(["Kept", "Kept too"]);
  });

  test("a transaction cannot be used after its end", async () => {
    const { write } = bench();
    let kept: PipelineTransaction | undefined;
    await write(async (transaction) => {
      kept = transaction;
    });
    await expect(newProgram(kept as PipelineTransaction, "Late")).rejects.toThrow();
    expect(await names()).toEqual([]);
  });

  test("a reference to a row that is missing or of another tenant is refused", async () => {
    const { seed, write } = bench();
    const { schemaId } = await seed.schema();
    await expect(seed.track({ programId: "prg_none", schemaId })).rejects.toThrow();
    const other = createFactory((work) => write(work, "biz_two"));
    const foreign = await other.program();
    await expect(seed.track({ programId: foreign.programId, schemaId })).rejects.toThrow();
    await expect(other.track({ programId: foreign.programId })).resolves.toMatchObject({ businessId: "biz_two" });
  });

  test("a row can be written before the row that it refers to", async () => {
    const { seed, write } = bench();
    const { schemaId } = await seed.schema();
    await write(async (transaction) => {
      const factory = createFactory((work) => work(transaction));
      await factory.track({ programId: "prg_1", schemaId });
      await factory.program({ programId: "prg_1" });
    });
  });
}
