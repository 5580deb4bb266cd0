import { describe, expect, test } from "vitest";
import { readData } from "../support/clients/clients.ts";
import { fieldIds } from "../support/data/seed-factory.ts";
import { hasAddress } from "./addresses.ts";
import { indexAll, listIds, searchByHand } from "./search-by-hand.ts";
import { openWorkflowFixture, type WorkflowFixture } from "./workflow-fixture.ts";

type Row = Readonly<Record<string, string | null>>;

const subjects = ["roof", "garden", "Über-Lab", "roofing", "school of music", "café"];

async function seedSearch({ seed }: WorkflowFixture["server"]) {
  const { programId } = await seed.program({ name: "Roofs for schools", description: "Gardens, too" });
  await seed.program({ name: "Another" });
  const track = await seed.track({ programId });
  const other = await seed.track();
  for (const [index, title] of subjects.entries()) {
    const answer = `A long story about a ${subjects[(index + 1) % subjects.length]}. `.repeat(3);
    await seed.submission({
      trackId: index % 2 === 0 ? track.trackId : other.trackId,
      title,
      fields: { [fieldIds.title]: title, fld_text: answer },
      innovatorName: index % 3 === 0 ? "Zoë Roof" : "Ada Marsh",
      innovatorEmail: `zoe${index}@example.org`,
    });
    await seed.reviewer({
      firstName: "Rolf",
      lastName: title,
      affiliation: "Institute of Roofs",
      programIds: [programId],
    });
    await seed.person({
      primaryEmail: `zoe${index}@example.org`,
      contactDetails: { firstName: "Zoë", lastName: title, organization: "Garden Society" },
    });
  }
  return { programId };
}

test.each([
  "before",
  "after",
])("a search finds what a comparison of all records finds, %s they are indexed", async (moment) => {
  const fixture = await openWorkflowFixture();
  const { programId } = await seedSearch(fixture.server);
  if (moment === "after") await indexAll(fixture);
  for (const words of [
    "roof",
    "ROOFS school",
    "uber",
    "cafe",
    "music zoe",
    "ofing",
    "garden society",
    "nothing at all",
  ]) {
    for (const filter of [{}, { programId }]) {
      const { results } = await fixture.ask("search_records", { words, ...filter, limit: 500 });
      expect(listIds(results), words).toEqual(await searchByHand(fixture, words, filter.programId));
    }
  }
});

test("whole words in titles and names come first, and each result says where the words were found", async () => {
  const fixture = await openWorkflowFixture();
  await seedSearch(fixture.server);
  await indexAll(fixture);
  const { results, truncated } = await fixture.ask("search_records", {
    words: "roof",
    kinds: ["submission"],
    limit: 3,
  });
  expect(results[0]).toMatchObject({
    kind: "submission",
    label: "roof",
    state: "DRAFT",
    matched: ["title", "innovatorName", `fields.${fieldIds.title}`],
  });
  expect(results[1]).toMatchObject({
    label: "roofing",
    matched: ["title", "innovatorName", `fields.${fieldIds.title}`],
  });
  expect(results[2].label).toBe("café");
  expect(results[2].excerpt).toContain("A long story about a roof.");
  expect(truncated).toEqual([{ list: "results", shown: 3, of: 4 }]);
  const short = await fixture.ask("search_records", { words: "r", limit: 1 });
  expect(short.truncated).toMatchObject([{ list: "results", shown: 1 }]);
});

test("only kinds that the token may read are searched, and the others are named", async () => {
  const fixture = await openWorkflowFixture({}, ["reviewers:read"]);
  await seedSearch(fixture.server);
  const { results, omitted } = await fixture.ask("search_records", { words: "roof" });
  expect(new Set(results.map(({ kind }: Row) => kind))).toEqual(new Set(["reviewer"]));
  expect(omitted).toEqual([
    { what: "programmes", scope: "programs:read" },
    { what: "submissions", scope: "submissions:read" },
    { what: "persons", scope: "persons:read" },
  ]);
});

test("words without a letter or a digit are refused", async () => {
  const { agents } = await openWorkflowFixture();
  for (const agent of Object.values(agents)) {
    const result = await agent.call("search_records", { words: "?!" });
    expect(JSON.parse(result.content[0]?.text ?? "{}").error.code).toBe("validation_failed");
  }
});

test("a remote service is not asked again for a long list within a minute, unless something was written", async () => {
  const { server, agents, list } = await openWorkflowFixture();
  const { trackId } = await server.seed.track();
  for (let index = 0; index < 101; index += 1) await server.seed.submission({ trackId, title: `Roof ${index}` });
  const search = async () =>
    readData(await agents.remote.call("search_records", { words: "roof", kinds: ["submission"], limit: 500 })).results
      .length;
  const countReads = async () => {
    await server.app.pipeline.flush();
    return (await list("list_audit_entries", { action: "submission.listed" })).length;
  };
  expect(await search()).toBe(101);
  const before = await countReads();
  expect(await search()).toBe(101);
  expect(await countReads()).toBe(before);
  const created = await agents.remote.call("create_submission", {
    trackId,
    deadline: "2026-12-31T00:00:00Z",
    innovatorEmail: "ada@example.org",
    innovatorName: "Ada Roof",
    fields: {},
  });
  expect(created.isError).not.toBe(true);
  expect(await search()).toBe(102);
});

describe.each(["pseudonymize", "redact"])("with %s", (privacy) => {
  test("an address is found only whole, as a handle too, and shown nowhere", async () => {
    const fixture = await openWorkflowFixture({ PROGRAMME_PRIVACY: privacy });
    const { trackId } = await fixture.server.seed.track();
    const address = "qwzvx.jyxk@hvpqz-fjzq.org";
    const digits = "+44 20 7946 0018";
    await fixture.server.seed.submission({
      trackId,
      title: `Write to ${address}`,
      fields: { fld_text: `Roofs: ${address} or ${digits}`, fld_phone: digits },
      innovatorEmail: address,
      innovatorName: `Ada ${address}`,
    });
    await fixture.server.seed.reviewer({ email: address, firstName: "Ada", lastName: "Marsh", affiliation: address });
    await fixture.server.seed.person({ primaryEmail: address, contactDetails: { firstName: "Ada", phone: digits } });
    await indexAll(fixture);
    for (const agent of Object.values(fixture.agents)) {
      const search = async (words: string) => {
        const result = await agent.call("search_records", { words });
        expect(hasAddress(JSON.stringify(result)), words).toBe(false);
        expect(JSON.stringify(result), words).not.toContain("7946");
        return readData(result)
          .results.map(({ kind }: Row) => kind)
          .toSorted();
      };
      const [reviewer] = readData(await agent.call("list_reviewers", {}));
      for (const whole of [address, address.toUpperCase(), reviewer.email]) {
        expect(await search(whole), whole).toEqual(["person", "reviewer", "submission"]);
      }
      expect(await search(`write ${address}`)).toEqual(["submission"]);
      for (const part of [
        "qwzvx",
        "q",
        "jyxk",
        "hvpqz",
        "fjzq",
        "org",
        "7946",
        "0018",
        "44",
        "x.jyxk@hvpqz-fjzq.org",
      ]) {
        expect(await search(part), part).toEqual([]);
      }
    }
  });

  test("answers to personal form fields are not searched for callers who may not read them", async () => {
    const scopes = ["submissions:read", "schemas:read"] as const;
    const fixture = await openWorkflowFixture({ PROGRAMME_PRIVACY: privacy }, scopes);
    const { seed } = fixture.server;
    const sensitivities = { fld_open: "standard", fld_pii: "pii", fld_restricted: "restricted" } as const;
    const schema = await seed.schema({
      fields: Object.entries(sensitivities).map(([fieldId, sensitivity], order) => ({
        fieldId,
        key: fieldId,
        label: fieldId,
        type: "text",
        required: false,
        sensitivity,
        archived: false,
        order,
      })),
    });
    const { trackId } = await seed.track({ schemaId: schema.schemaId, schemaVersion: schema.schemaVersion });
    await seed.submission({
      trackId,
      fields: { fld_open: "visible", fld_pii: "secretive", fld_restricted: "concealed" },
    });
    await indexAll(fixture);
    expect((await fixture.ask("search_records", { words: "visible" })).results).toHaveLength(1);
    for (const words of ["secretive", "s", "concealed", "visible secretive"]) {
      expect(await fixture.ask("search_records", { words })).not.toMatchObject({ results: [{}] });
    }
  });
});
