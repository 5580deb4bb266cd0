import fc from "fast-check";
import { expect, test } from "vitest";
import { createId } from "../../src/lib/ids.ts";
import type { ListOrder, Query } from "../../src/store/port.ts";
import type { Row, TableName } from "../../src/store/tables.ts";
import { createFactory } from "../support/data/seed-factory.ts";
import type { Bench } from "./conformance.ts";

const at = (ms: number) => new Date(Date.UTC(2026, 10, 20) + ms).toISOString();

/** Tests a reader's lists, searches and counts. */
export function lists(bench: () => Bench): void {
  const reader = () => bench().store.reader("biz_one");
  const writeAt =
    (ms: number): Bench["write"] =>
    (work, businessId = "biz_one") =>
      bench().store.transaction({ businessId, actorId: "usr_test", now: at(ms) }, work);
  const seedAt = (ms: number) => createFactory(writeAt(ms));

  async function walk<T extends TableName>(
    table: T,
    query: Query<T>,
    order: ListOrder,
    limit: number,
    between?: () => Promise<unknown>,
  ) {
    const rows: Row<T>[] = [];
    let lastEvaluatedKey: string | undefined;
    do {
      const page = await reader().page(table, query, order, { limit, lastEvaluatedKey });
      expect(page.rows.length).toBeLessThanOrEqual(limit);
      rows.push(...page.rows);
      ({ lastEvaluatedKey } = page);
      if (lastEvaluatedKey !== undefined) {
        expect(page.rows).toHaveLength(limit);
        await between?.();
      }
    } while (lastEvaluatedKey !== undefined);
    return rows;
  }

  test("lists are newest first, rows with the same time are ordered by id, and a cursor means that there is more", async () => {
    const old = await seedAt(0).program({ programId: "prg_a" });
    const twin = await seedAt(0).program({ programId: "prg_b" });
    const young = await seedAt(1).program({ programId: "prg_0" });
    const first = await reader().page("programs", {}, "newest", { limit: 2 });
    expect(first.rows).toEqual([young, twin]);
    const second = await reader().page("programs", {}, "newest", {
      limit: 2,
      lastEvaluatedKey: first.lastEvaluatedKey,
    });
    expect([second.rows, second.lastEvaluatedKey]).toEqual([[old], undefined]);
    const all = await reader().page("programs", {}, "newest", { limit: 3 });
    expect([all.rows, all.lastEvaluatedKey]).toEqual([[young, twin, old], undefined]);
  });

  test("pages of any size show every row once while other rows are written", async () => {
    const sizes = fc.record({
      rows: fc.integer({ min: 0, max: 25 }),
      limit: fc.integer({ min: 1, max: 8 }),
      moments: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(sizes, async ({ rows, limit, moments }) => {
        const programId = createId("prg");
        const schema = await seedAt(0).schema();
        await seedAt(0).program({ programId });
        const seeded = new Set<string>();
        for (let n = 0; n < rows; n++) {
          seeded.add((await seedAt(n % moments).track({ programId, schemaId: schema.schemaId })).trackId);
        }
        const between = () => seedAt(moments).track({ programId, schemaId: schema.schemaId });
        const walked = (await walk("tracks", { where: { programId } }, "newest", limit, between)).map(
          ({ trackId }) => trackId,
        );
        expect(new Set(walked)).toEqual(seeded);
        expect(walked).toHaveLength(rows);
      }),
      { numRuns: 25 },
    );
  });

  test("a list by time of change also shows rows that are written while it is read, in the same millisecond too", async () => {
    const people: Row<"persons">[] = [];
    for (let n = 0; n < 6; n++) people.push(await seedAt(0).person());
    let rewritten = 0;
    const rewrite = async () => {
      if (rewritten >= 3) return;
      const person = await reader().get("persons", people[rewritten++]?.personId as string);
      await writeAt(0)((transaction) =>
        transaction.update("persons", person as Row<"persons">, { metadata: { rewritten } }),
      );
    };
    const walked = await walk("persons", {}, "changed", 2, rewrite);
    const last = new Map(walked.map((person) => [person.personId, person.version]));
    expect(people.map(({ personId }) => last.get(personId))).toEqual([1, 1, 1, 0, 0, 0]);
    expect(walked.map(({ updatedAt }) => updatedAt)).toEqual(walked.map(({ updatedAt }) => updatedAt).toSorted());
    const since = walked[3]?.updatedAt as string;
    const later = await walk("persons", { where: { updatedAt: { gt: since } } }, "changed", 2);
    expect(later).toEqual(walked.filter(({ updatedAt }) => updatedAt > since));
  });

  test("rows of one transaction have the same time", async () => {
    await seedAt(0).person();
    const [one, two] = await writeAt(0)(async (transaction) => {
      const factory = createFactory((work) => work(transaction));
      return [await factory.person(), await factory.person()];
    });
    expect([one?.updatedAt, two?.updatedAt]).toEqual([at(1), at(1)]);
    expect((await seedAt(60_000).person()).updatedAt).toBe(at(60_000));
  });

  test("lists by member respect the order and the other conditions", async () => {
    const one = await seedAt(0).reviewer({ roundIds: ["rnd_1"], status: "active" });
    await seedAt(1).reviewer({ roundIds: ["rnd_1"], status: "invited" });
    await seedAt(2).reviewer({ roundIds: ["rnd_2"], status: "active" });
    const two = await seedAt(3).reviewer({ roundIds: ["rnd_1"], status: "active" });
    const query = { has: { roundIds: "rnd_1" }, where: { status: "active" } } as const;
    expect(await walk("reviewers", query, "newest", 1)).toEqual([two, one]);
    expect(await walk("reviewers", query, "changed", 1)).toEqual([one, two]);
    expect(await reader().find("reviewers", query, { limit: 5, orderBy: "reviewerId", descending: true })).toEqual([
      two,
      one,
    ]);
  });

  test("a list by one of several members shows a row once", async () => {
    const one = await seedAt(0).reviewer({ reviewerId: "rvw_1", roundIds: ["rnd_1", "rnd_2"], programIds: ["prg_1"] });
    const two = await seedAt(1).reviewer({ reviewerId: "rvw_2", roundIds: ["rnd_2"] });
    await seedAt(2).reviewer({ reviewerId: "rvw_3", roundIds: ["rnd_3"], programIds: ["prg_1"] });
    const has = { roundIds: ["rnd_1", "rnd_2", "rnd_none"] };
    expect(await reader().find("reviewers", { has }, { limit: 5, orderBy: "reviewerId" })).toEqual([one, two]);
    expect(await walk("reviewers", { has }, "newest", 1)).toEqual([two, one]);
    expect(await walk("reviewers", { has: { ...has, programIds: "prg_1" } }, "newest", 1)).toEqual([one]);
    expect(await reader().find("reviewers", { has: { roundIds: [] } }, { limit: 5 })).toEqual([]);
    expect(await reader().count("reviewers", { has })).toBe(2);
  });

  test("versions of one id are separate rows of a list", async () => {
    const schemaId = createId("sch");
    for (const schemaVersion of [1, 2, 3]) await seedAt(0).schema({ schemaId, schemaVersion });
    const walked = await walk("schemas", {}, "newest", 1);
    expect(walked.map(({ schemaVersion }) => schemaVersion)).toEqual([3, 2, 1]);
  });

  test("a cursor is accepted only by its own list", async () => {
    for (let n = 0; n < 4; n++) await seedAt(n).submission();
    for (let n = 0; n < 4; n++) await createFactory((work) => writeAt(n)(work, "biz_two")).submission();
    const where = { state: "DRAFT", submittedAt: { lte: at(9) } } as const;
    const query = { where: { state: "DRAFT" } } as const;
    const { lastEvaluatedKey } = await reader().page("submissions", query, "newest", { limit: 1 });
    const foreign = { limit: 1, lastEvaluatedKey };
    const refused = {
      code: "invalid_cursor",
      details: { issues: [{ path: "lastEvaluatedKey", code: "invalid_cursor" }] },
    };
    await expect(reader().page("submissions", query, "changed", foreign)).rejects.toMatchObject(refused);
    await expect(reader().page("submissions", { where }, "newest", foreign)).rejects.toMatchObject(refused);
    await expect(reader().page("submissions", {}, "newest", foreign)).rejects.toMatchObject(refused);
    await expect(reader().page("tracks", {}, "newest", foreign)).rejects.toMatchObject(refused);
    await expect(bench().store.reader("biz_two").page("submissions", query, "newest", foreign)).rejects.toMatchObject(
      refused,
    );
    await expect(
      reader().page("submissions", query, "newest", { limit: 1, lastEvaluatedKey: "" }),
    ).rejects.toMatchObject(refused);
    const same = { where: { trackId: undefined, state: "DRAFT" }, has: {}, search: undefined } as const;
    const again = reader().page("submissions", { where: same.where }, "newest", { limit: 3, lastEvaluatedKey });
    expect((await again).rows).toHaveLength(3);
  });

  test("a condition can be a value, several values, none, null, a range or a boolean", async () => {
    const dates = [null, at(0), at(1), at(2)];
    for (const [n, endDate] of dates.entries())
      await seedAt(n).program({ name: `p${n}`, endDate, feeRequired: n % 2 === 1 });
    const names = async (where: Query<"programs">["where"]) =>
      (await reader().find("programs", { where: where ?? {} }, { limit: 10 })).map(({ name }) => name);
    expect(await names({ name: "p1" })).toEqual(["p1"]);
    expect(await names({ name: ["p2", "p0", "none"] })).toEqual(["p0", "p2"]);
    expect(await names({ name: [] })).toEqual([]);
    expect(await names({ endDate: null })).toEqual(["p0"]);
    expect(await names({ endDate: [null, at(2)] })).toEqual(["p0", "p3"]);
    expect(await names({ endDate: { gte: at(0), lt: at(2) } })).toEqual(["p1", "p2"]);
    expect(await names({ endDate: { gt: at(0), lte: at(2) } })).toEqual(["p2", "p3"]);
    expect(await names({ endDate: { gte: undefined } })).toEqual(["p0", "p1", "p2", "p3"]);
    expect(await names({ feeRequired: true })).toEqual(["p1", "p3"]);
    expect(await names({ feeRequired: [false] })).toEqual(["p0", "p2"]);
    expect(await names({ name: undefined })).toHaveLength(4);
  });

  test("search finds text in any column in upper or lower case, and treats wildcards as text", async () => {
    await seedAt(0).reviewer({ firstName: "Élodie", lastName: "100%_A\\b", affiliation: null });
    const find = async (text: string) => {
      const search = { columns: ["firstName", "lastName", "affiliation"], text } as const;
      return (await reader().find("reviewers", { search }, { limit: 5 })).length;
    };
    for (const text of ["élo", "ÉLODIE", "lodi", "100%_a\\B", "%", "_", "\\"])
      expect([text, await find(text)]).toEqual([text, 1]);
    for (const text of ["ÉLODIE 100%", " 100  élo ", "  "]) expect([text, await find(text)]).toEqual([text, 1]);
    for (const text of ["élodie okafor", "É%e", "l_d", "elodie", "\\\\", "ÉlodieX"])
      expect([text, await find(text)]).toEqual([text, 0]);
  });

  test("find orders by a column, then by id, and respects its limit", async () => {
    const sequence = [3, 1, 2, 1];
    const { trackId, programId } = await seedAt(0).track();
    for (const [n, value] of sequence.entries())
      await seedAt(n).round({ trackId, programId, roundId: `rnd_${n}`, sequence: value });
    const find = async (options: Parameters<ReturnType<typeof reader>["find"]>[2]) =>
      (await reader().find("rounds", { where: { programId } }, options as { limit: number })).map(
        ({ roundId }) => roundId,
      );
    expect(await find({ limit: 10, orderBy: "sequence" as never })).toEqual(["rnd_1", "rnd_3", "rnd_2", "rnd_0"]);
    expect(await find({ limit: 2 })).toEqual(["rnd_0", "rnd_1"]);
    expect(await find({ limit: 2, descending: true })).toEqual(["rnd_3", "rnd_2"]);
  });

  test("scan returns every matching row of a large table", async () => {
    const { write } = bench();
    await write(async (transaction) => {
      const factory = createFactory((work) => work(transaction));
      for (let n = 0; n < 401; n++) await factory.person({ kinds: n % 2 ? ["contact"] : [], active: n !== 7 });
    });
    const seen: string[] = [];
    for await (const { personId } of reader().scan("persons", { where: { active: true } })) seen.push(personId);
    expect([seen.length, new Set(seen).size]).toEqual([400, 400]);
    for await (const { personId } of bench().store.reader("biz_two").scan("persons", {})) expect.fail(personId);
  });

  test("count returns the number of matching rows, in total and by the value of a column", async () => {
    for (const year of [2025, 2026, 2026])
      await seedAt(0).program({ year, feeRequired: year === 2026, currency: year === 2025 ? "EUR" : null });
    expect(await reader().count("programs", {})).toBe(3);
    expect(await reader().count("programs", { where: { year: 2026 } })).toBe(2);
    expect(await reader().countBy("programs", "year", {})).toEqual(
      new Map([
        ["2025", 1],
        ["2026", 2],
      ]),
    );
    expect(await reader().countBy("programs", "feeRequired", {})).toEqual(
      new Map([
        ["true", 2],
        ["false", 1],
      ]),
    );
    expect(await reader().countBy("programs", "currency", {})).toEqual(new Map([["EUR", 1]]));
    expect(await reader().countBy("programs", "year", { where: { year: { gt: 3000 } } })).toEqual(new Map());
  });
}
