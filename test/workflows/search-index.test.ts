import fc from "fast-check";
import { expect, test } from "vitest";
import { scopes, sensitiveScope } from "../../src/contract/access/scopes.ts";
import { readData } from "../support/clients/clients.ts";
import { createFactory, fieldIds } from "../support/data/seed-factory.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { indexAll, listIds, searchByHand } from "./search-by-hand.ts";
import { openWorkflowFixture } from "./workflow-fixture.ts";

/** Words that fold, combine, begin alike, are long or short, mean something to a database, or are not ASCII. */
const words = [
  ...[
    "roof",
    "Roofing",
    "Über",
    "uber",
    "cafe\u0301teria",
    "café",
    "ﬁne",
    "fine",
    "straße",
    "学校の",
    "школа",
    "İstanbul",
  ],
  ...[
    "a",
    "a1",
    "x".repeat(40),
    `${"x".repeat(40)}y`,
    "𝔘nit",
    "AND",
    "or",
    "NEAR",
    'quo"te',
    "semi;colon",
    "under_score",
  ],
];
const text = fc.array(fc.constantFrom(...words), { maxLength: 4 }).map((parts) => parts.join(" "));
const beginning = fc
  .tuple(fc.constantFrom(...words), fc.nat({ max: 45 }))
  .map(([word, length]) => [...word].slice(0, length + 1).join(""));

const step = fc.record({
  act: fc.constantFrom(...(["add", "change", "move", "merge"] as const)),
  table: fc.constantFrom(...(["submissions", "persons", "reviewers"] as const)),
  texts: fc.tuple(text, text, text),
  which: fc.nat(),
  isIndexed: fc.boolean(),
  search: fc.array(beginning, { minLength: 1, maxLength: 2 }),
  isNarrow: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Found by a random run: a capital letter that has no lower case of its own. */
const letterOfMathematics: Step = {
  act: "add",
  table: "submissions",
  texts: ["𝔘nit", "", ""],
  which: 0,
  isIndexed: true,
  search: ["𝔘"],
  isNarrow: false,
};

function createWriter({ seed, write }: TestServer, tracks: readonly { trackId: string; programId: string }[]) {
  const ids = { submissions: [] as string[], persons: [] as string[], reviewers: [] as string[] };
  return async ({ act, table, texts: [first, second, third], which }: Step) => {
    const { trackId = "", programId = "" } = tracks[which % tracks.length] ?? {};
    const patches = {
      submissions: { title: first, innovatorName: second, fields: { [fieldIds.title]: third, fld_list: [first] } },
      persons: { contactDetails: { firstName: first, lastName: second, organization: third } },
      reviewers: { firstName: first, lastName: second, affiliation: third },
    };
    const [id, other] = [ids[table][which % ids[table].length], ids.persons[(which + 1) % ids.persons.length]];
    if (act === "add" || id === undefined) {
      if (table === "submissions")
        ids[table].push((await seed.submission({ trackId, ...patches[table] })).submissionId);
      else if (table === "persons") ids[table].push((await seed.person(patches[table])).personId);
      else ids[table].push((await seed.reviewer({ programIds: [programId], ...patches[table] })).reviewerId);
      return;
    }
    await write(async (tx) => {
      const row = await tx.get(table, id);
      if (!row) throw new Error(`No row ${id}`);
      const merged = table === "persons" && act === "merge" && other !== id ? { mergedIntoPersonId: other } : {};
      const home = { submissions: { trackId, programId }, persons: {}, reviewers: { programIds: [programId] } };
      await tx.update(table, row, act === "move" ? home[table] : { ...patches[table], ...merged });
    });
  };
}

test("a search finds the same by the index, by reading every record, and by hand, after any changes", async () => {
  const fixture = await openWorkflowFixture();
  const tracks = [await fixture.server.seed.track(), await fixture.server.seed.track()];
  const write = createWriter(fixture.server, tracks);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      for (const each of steps) await write(each);
      const { search, isNarrow, isIndexed } = steps.at(-1) as Step;
      if (isIndexed) await indexAll(fixture);
      const programId = isNarrow ? tracks[0]?.programId : undefined;
      if (!/[\p{L}\p{N}]/u.test(search.join(" "))) return;
      const { results } = await fixture.ask("search_records", { words: search.join(" "), programId, limit: 500 });
      expect(listIds(results)).toEqual(await searchByHand(fixture, search.join(" "), programId));
    }),
    { numRuns: 25, examples: [[[letterOfMathematics]]] },
  );
});

test("a search finds nothing of another tenant", async () => {
  const fixture = await openWorkflowFixture();
  const { server } = fixture;
  const other = await server.other();
  for (const { seed } of [server, other]) {
    await seed.submission({ title: `Roof of ${seed === other.seed ? "theirs" : "ours"}` });
    await seed.person({ contactDetails: { lastName: "Roof" } });
    await seed.reviewer({ lastName: "Roof" });
  }
  await indexAll(fixture);
  const mine = await fixture.ask("search_records", { words: "roof" });
  expect(listIds(mine.results)).toEqual(await searchByHand(fixture, "roof"));
  expect(mine.results).toHaveLength(3);
  expect((await fixture.ask("search_records", { words: "theirs" })).results).toEqual([]);
  const reader = server.app.store.reader(server.businessId);
  const search = { words: ["theirs"], addresses: [], includesPersonalAnswers: true };
  expect(await reader.findCandidates("submissions", search, 10)).toEqual({ ids: [], hasMore: false });
});

/** More records than a search compares. */
const many = 1_010;

async function seedMany({ write, seed }: TestServer, title: string, fields: Record<string, unknown> = {}) {
  const { trackId } = await seed.track();
  await write(async (tx) => {
    const factory = createFactory((work) => work(tx));
    for (let index = 0; index < many; index += 1) await factory.submission({ trackId, title, fields });
  });
}

test("while many records are not in the index, a search reads all and says so", async () => {
  const fixture = await openWorkflowFixture();
  await seedMany(fixture.server, "A roof");
  const search = async () =>
    readData(await fixture.agents.embedded.call("search_records", { words: "roof", limit: 1 }));
  expect(await search()).toMatchObject({
    unindexed: ["submission"],
    truncated: [{ list: "results", shown: 1, of: many }],
  });
  await indexAll(fixture);
  const indexed = await search();
  expect(indexed.unindexed).toBeUndefined();
  expect(indexed.incomplete).toEqual([{ operation: "list_submissions", rows: 1_000 }]);
  await fixture.server.seed.submission({ title: "A roof and a needle" });
  expect((await fixture.ask("search_records", { words: "roof needle" })).results).toHaveLength(1);
});

test("how many answers a caller may not read have a word is not shown", async () => {
  const fixture = await openWorkflowFixture({ PROGRAMME_PRIVACY: "redact" }, ["submissions:read", "schemas:read"]);
  await seedMany(fixture.server, "A roof", { fld_unknown: "hidden" });
  await indexAll(fixture);
  const answer = readData(await fixture.agents.embedded.call("search_records", { words: "hidden" }));
  expect(answer.results).toEqual([]);
  expect(answer.incomplete).toBeUndefined();
});

test("without the sensitive scope, persons are found by their whole address only, and the answer says so", async () => {
  const fixture = await openWorkflowFixture(
    {},
    scopes.filter((scope) => scope !== sensitiveScope),
  );
  const { personId } = await fixture.server.seed.person({ primaryEmail: "grace@example.org" });
  await indexAll(fixture);
  const byName = await fixture.ask("search_records", { words: "lindqvist" });
  expect(byName.results).toEqual([]);
  expect(byName.omitted).toEqual([{ what: "names of persons", scope: sensitiveScope }]);
  const byAddress = await fixture.ask("search_records", { words: "grace@example.org" });
  expect(byAddress.results).toMatchObject([{ kind: "person", id: personId }]);
  expect(byAddress.omitted).toBeUndefined();
});
