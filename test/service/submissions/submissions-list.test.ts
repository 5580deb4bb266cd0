import fc from "fast-check";
import { describe, expect } from "vitest";
import type { Row } from "../../../src/store/tables.ts";
import { readPages } from "../../support/data/lists.ts";
import { surfaces, type TestCaller, type TestServer, test } from "../../support/servers/test-server.ts";

type Submission = Row<"submissions">;

/** Two programmes: one with two tracks of two rounds, one with one; submissions in several states and rounds. */
async function seasonOf({ seed, clock }: TestServer): Promise<Submission[]> {
  const [big, small] = [await seed.program(), await seed.program()];
  const rows: Submission[] = [];
  for (const { programId } of [big, big, small]) {
    const { trackId } = await seed.track({ programId });
    const home = { programId, trackId };
    const rounds = [await seed.round({ ...home, sequence: 1 }), await seed.round({ ...home, sequence: 2 })];
    const places = [null, ...rounds.map((round) => round.roundId)];
    for (const [day, state] of (["DRAFT", "SUBMITTED", "IN_REVIEW", "IN_REVIEW", "FINALIST"] as const).entries()) {
      clock.advance(60_000);
      const submittedAt = state === "DRAFT" ? null : `2026-11-2${day}T23:30:00.000Z`;
      const currentRoundId = places[Math.max(0, day - 1) % 3] ?? null;
      rows.push(await seed.submission({ ...home, state, submittedAt, currentRoundId }));
    }
  }
  return rows;
}

interface Filter {
  readonly given: Readonly<Record<string, unknown>>;
  readonly holds: (row: Submission) => boolean;
}

/** Filters of each parameter, and what each is to let through. */
function filtersOf(rows: readonly Submission[]): Record<string, Filter[]> {
  const distinct = (column: "programId" | "trackId" | "state" | "currentRoundId") =>
    [...new Set(rows.map((row) => row[column]))].filter((value) => value !== null);
  const equal = (name: string, column: Parameters<typeof distinct>[0]) =>
    distinct(column).map((value) => ({ given: { [name]: value }, holds: (row: Submission) => row[column] === value }));
  const submitted = (name: string, value: string, holds: (submittedAt: string) => boolean) => ({
    given: { [name]: value },
    holds: ({ submittedAt }: Submission) => submittedAt !== null && holds(submittedAt),
  });
  return {
    programId: [...equal("programId", "programId"), { given: { programId: "prg_none" }, holds: () => false }],
    trackId: equal("trackId", "trackId"),
    state: [...equal("state", "state"), { given: { state: "WINNER" }, holds: () => false }],
    roundId: equal("roundId", "currentRoundId"),
    submittedFrom: [
      submitted("submittedFrom", "2026-11-22", (at) => at >= "2026-11-22T00:00:00.000Z"),
      submitted("submittedFrom", "2026-11-23T23:30:00Z", (at) => at >= "2026-11-23T23:30:00.000Z"),
      submitted("submittedFrom", "2026-11-24T00:30:00.001+01:00", (at) => at > "2026-11-23T23:30:00.000Z"),
    ],
    submittedTo: [
      submitted("submittedTo", "2026-11-22", (at) => at < "2026-11-23"),
      submitted("submittedTo", "2026-11-23T23:30:00Z", (at) => at <= "2026-11-23T23:30:00.000Z"),
      submitted("submittedTo", "2026-11-24T00:29:59.999+01:00", (at) => at < "2026-11-23T23:30:00.000Z"),
    ],
  };
}

describe.each(surfaces)("listing submissions over %s", (surface) => {
  test("returns what matches each filter and all filters together", async ({ server }) => {
    const chair = await server.as(surface);
    await seasonOf(await server.other());
    const rows = await seasonOf(server);
    const newest = rows.toReversed();
    expect(await chair.list_submissions()).toEqual(newest);
    const filters = Object.entries(filtersOf(rows));
    const seen = new Set<number>();
    for (const [name, ones] of filters) {
      for (const one of ones) {
        for (const [otherName, others] of filters) {
          const other = otherName > name ? others[others.length - 1] : undefined;
          const holds = (row: Submission) => one.holds(row) && (other?.holds(row) ?? true);
          const query = { ...one.given, ...other?.given };
          const listed = await chair.list_submissions(query);
          expect(listed, JSON.stringify(query)).toEqual(newest.filter(holds));
          seen.add(listed.length);
        }
      }
    }
    expect(seen.size).toBeGreaterThan(5);
  });

  test("reads a date as the whole day in UTC", async ({ server }) => {
    const chair = await server.as(surface);
    const { trackId } = await server.seed.track();
    const times = ["20T23:59:59.999Z", "21T00:00:00.000Z", "21T23:59:59.999Z", "22T00:00:00.000Z"];
    for (const time of times)
      await server.seed.submission({ trackId, state: "SUBMITTED", submittedAt: `2026-11-${time}` });
    const listed = await chair.list_submissions({ submittedFrom: "2026-11-21", submittedTo: "2026-11-21" });
    const shown = listed.map(({ submittedAt }: Submission) => submittedAt).sort();
    expect(shown).toEqual(["2026-11-21T00:00:00.000Z", "2026-11-21T23:59:59.999Z"]);
  });

  test("returns only later changes with updatedSince, oldest first", async ({ server }) => {
    const chair = await server.as(surface);
    const { trackId } = await server.seed.track();
    const rows: Submission[] = [];
    for (let count = 0; count < 4; count += 1) {
      server.clock.advance(60_000);
      rows.push(await server.seed.submission({ trackId }));
    }
    const [first, second, third, fourth] = rows as [Submission, Submission, Submission, Submission];
    server.clock.advance(60_000);
    const { submissionId } = second;
    const changed = await chair.update_submission({ submissionId, version: 0, deadline: "2027-01-01T00:00:00Z" });
    const since = (updatedSince: string, more = {}) => chair.list_submissions({ updatedSince, ...more });
    expect(await since("2026-11-20")).toEqual([first, third, fourth, changed]);
    expect(await since(third.updatedAt)).toEqual([third, fourth, changed]);
    expect(await since(changed.updatedAt, { trackId, state: "DRAFT" })).toEqual([changed]);
    expect(await since("2026-11-21")).toEqual([]);
    expect(await chair.list_submissions()).toEqual([fourth, third, changed, first]);
  });

  test("refuses an unknown filter and an invalid date with the parameter's name", async ({ server }) => {
    const chair = await server.as(surface);
    const refused: readonly [string, unknown][] = [
      ["state", "drafted"],
      // Tools understand a choice in any case.
      ...(surface === "MCP" ? [] : [["state", "draft"] as [string, unknown]]),
      ["programId", ""],
      ["submittedFrom", "2026-02-30"],
      ["submittedTo", "yesterday"],
      ["updatedSince", "2026-11-20T09:00:00"],
      ["updatedSince", "20.11.2026"],
      ["limit", 0],
      ["limit", -1],
      ["limit", 1.5],
      ["limit", "ten"],
      ["lastEvaluatedKey", ""],
      ["reviewerId", "rvw_1"],
    ];
    for (const [path, value] of refused) {
      const call = chair.list_submissions({ [path]: value });
      await expect(call, `${path} ${value}`).rejects.toMatchProblem("validation_failed", {
        issues: [expect.objectContaining({ path })],
      });
    }
  });

  test("returns 50 rows by default, 20 for agents, and 100 at most", async ({ server }) => {
    const chair = await server.as(surface);
    const { trackId } = await server.seed.track();
    for (let count = 0; count < 101; count += 1) await server.seed.submission({ trackId });
    const sizes = async (query: object) =>
      (await readPages(chair, "list_submissions", query)).map(({ length }) => length);
    expect(await sizes({})).toEqual(surface === "MCP" ? [20, 20, 20, 20, 20, 1] : [50, 50, 1]);
    expect(await sizes({ limit: 5000 })).toEqual([100, 1]);
    expect(await sizes({ limit: 101, updatedSince: "2026-01-01" })).toEqual([100, 1]);
  });

  test("accepts a cursor only unchanged, for its own list and tenant", async ({ server }) => {
    const chair = await server.as(surface);
    const rows = await seasonOf(server);
    const other = await server.other();
    await seasonOf(other);
    const stranger = await other.as(surface);
    const { programId = "", trackId = "" } = rows[0] ?? {};
    const base = { programId, state: "IN_REVIEW", limit: 1 };
    const { page } = await chair.call("list_submissions", base);
    const lastEvaluatedKey = page?.lastEvaluatedKey ?? "";
    const query = { ...base, lastEvaluatedKey };
    const { programId: _, ...unfiltered } = query;
    const middle = lastEvaluatedKey.length >> 1;
    const letter = lastEvaluatedKey[middle] === "A" ? "B" : "A";
    const altered = lastEvaluatedKey.slice(0, middle) + letter + lastEvaluatedKey.slice(middle + 1);
    const refused: readonly (() => Promise<unknown>)[] = [
      () => stranger.list_submissions(query),
      () => chair.list_submissions(unfiltered),
      () => chair.list_submissions({ ...query, state: "DRAFT" }),
      () => chair.list_submissions({ ...query, trackId }),
      () => chair.list_submissions({ ...query, submittedTo: "2026-11-30" }),
      () => chair.list_submissions({ ...query, updatedSince: "2026-11-01" }),
      () => chair.list_programs({ lastEvaluatedKey }),
      () => chair.list_submissions({ ...query, lastEvaluatedKey: altered }),
      () => chair.list_submissions({ ...query, lastEvaluatedKey: `${lastEvaluatedKey}A` }),
      () => chair.list_submissions({ ...query, lastEvaluatedKey: "null" }),
    ];
    for (const call of refused) await expect(call()).rejects.toMatchProblem("invalid_cursor");
    const again = await (await server.as(surface)).list_submissions({ ...query, limit: 100 });
    const all = await chair.list_submissions({ ...base, limit: 100 });
    expect(again).toEqual(all.slice(1));
    expect(again.length).toBeGreaterThan(0);
  });
});

/** The change between two pages: to the row at an index, or a new one. */
const happening = fc.oneof(
  fc.record({ kind: fc.constant("insert" as const), tick: fc.boolean() }),
  fc.record({ kind: fc.constantFrom("edit" as const, "withdraw" as const), index: fc.nat(), tick: fc.boolean() }),
);
const walk = fc.record({
  before: fc.integer({ min: 0, max: 12 }),
  pages: fc.array(
    fc.record({ limit: fc.integer({ min: 1, max: 4 }), between: fc.array(happening, { maxLength: 3 }) }),
    { minLength: 1, maxLength: 6 },
  ),
});

type Happening = typeof happening extends fc.Arbitrary<infer H> ? H : never;

/** Walks a list while rows come and change, then to its end; gives what was seen, in order. */
async function walkThrough(
  chair: TestCaller,
  query: object,
  { pages }: typeof walk extends fc.Arbitrary<infer W> ? W : never,
  happen: (happening: Happening) => Promise<void>,
): Promise<Submission[]> {
  const seen: Submission[] = [];
  let lastEvaluatedKey: string | undefined;
  for (let step = 0; step === 0 || lastEvaluatedKey !== undefined; step += 1) {
    const { limit, between } = pages[step] ?? { limit: 4, between: [] };
    const { data, page } = await chair.call("list_submissions", { ...query, limit, lastEvaluatedKey });
    seen.push(...data);
    lastEvaluatedKey = page?.lastEvaluatedKey;
    if (lastEvaluatedKey !== undefined) for (const each of between) await happen(each);
  }
  return seen;
}

describe.each(surfaces)("paging while rows are written over %s", (surface) => {
  async function arena(server: TestServer, before: number) {
    const own = await server.other();
    const chair = await own.as(surface);
    const { trackId } = await own.seed.track();
    const rows: string[] = [];
    const insert = async () => void rows.push((await own.seed.submission({ trackId })).submissionId);
    for (let count = 0; count < before; count += 1) await insert();
    const happen = async (each: Happening) => {
      if (each.tick) server.clock.advance(1);
      if (each.kind === "insert") return insert();
      const submissionId = rows[each.index % Math.max(1, rows.length)];
      if (submissionId === undefined) return;
      await own.write(async (tx) => {
        const row = (await tx.get("submissions", submissionId)) as Submission;
        const change = each.kind === "edit" ? { title: `${row.title}.` } : { state: "WITHDRAWN" as const };
        await tx.update("submissions", row, change);
      });
    };
    const all = () => own.app.store.reader(own.businessId).find("submissions", {}, { limit: 1000 });
    return { chair, happen, all };
  }

  test("returns each remaining row exactly once, newest first", async ({ server }) => {
    await fc.assert(
      fc.asyncProperty(walk, async (plan) => {
        const { chair, happen, all } = await arena(server, plan.before);
        const before = await all();
        const seen = await walkThrough(chair, { state: "DRAFT" }, plan, happen);
        const ids = seen.map((row) => row.submissionId);
        expect(new Set(ids).size).toBe(ids.length);
        const stayed = new Set((await all()).filter(({ state }) => state === "DRAFT").map((row) => row.submissionId));
        for (const { submissionId } of before) if (stayed.has(submissionId)) expect(ids).toContain(submissionId);
        expect(ids).toEqual([...ids].sort().reverse());
      }),
      { numRuns: 25 },
    );
  });

  test("returns the last version of every row with updatedSince, and no version twice", async ({ server }) => {
    await fc.assert(
      fc.asyncProperty(walk, async (plan) => {
        const { chair, happen, all } = await arena(server, plan.before);
        const seen = await walkThrough(chair, { updatedSince: "2026-01-01" }, plan, happen);
        const versions = seen.map(({ submissionId, version }) => `${submissionId} ${version}`);
        expect(new Set(versions).size).toBe(versions.length);
        const latest = new Map(seen.map((row) => [row.submissionId, row]));
        expect(Object.fromEntries(latest)).toEqual(
          Object.fromEntries((await all()).map((row) => [row.submissionId, row])),
        );
        const times = seen.map((row) => row.updatedAt);
        expect(times).toEqual([...times].sort());
      }),
      { numRuns: 25 },
    );
  });
});
