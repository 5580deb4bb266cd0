import { describe, expect } from "vitest";
import type { Scope } from "../../src/contract/access/scopes.ts";
import type { Row } from "../../src/store/tables.ts";
import { seedMany } from "../support/data/lists.ts";
import { field, personFieldIds } from "../support/data/seed-factory.ts";
import { recordStatements } from "../support/database/statements.ts";
import { type Surface, surfaces, type TestCaller, type TestServer, test } from "../support/servers/test-server.ts";

const { standard, pii, restricted } = personFieldIds;
const person = { customFields: { [standard]: "weaving", [pii]: "1971-05-01", [restricted]: "asthma" } };

/** A row that stands for a person, as a list shows it. */
interface Shown {
  readonly email: string;
  readonly person?: { readonly personId: string; readonly customFields: object };
}

interface Noun {
  readonly scope: Scope;
  seed(server: TestServer, given: { email: string; personId?: string | null }): Promise<unknown>;
  /** Of a reviewer, one at a time. */
  list(caller: TestCaller, query: object): Promise<Shown[]>;
}

const nouns: Readonly<Record<string, Noun>> = {
  list_applicants: {
    scope: "applicants:read",
    seed: ({ seed }, given) => seed.applicant(given),
    list: (caller, query) => caller.list_applicants({ limit: 100, ...query }),
  },
  list_reviewers: {
    scope: "reviewers:read",
    seed: ({ seed }, given) => seed.reviewer(given),
    list: (caller, query) => caller.list_reviewers({ limit: 100, ...query }),
  },
  get_reviewer: {
    scope: "reviewers:read",
    seed: ({ seed }, given) => seed.reviewer(given),
    list: async (caller, query) => {
      const rows: Row<"reviewers">[] = await caller.list_reviewers({ limit: 100 });
      return Promise.all(rows.map(({ reviewerId }) => caller.get_reviewer({ reviewerId, ...query })));
    },
  },
};
const cases = Object.keys(nouns).flatMap((name) => surfaces.map((surface) => [name, surface] as [string, Surface]));

describe.for(cases)("the person part of %s over %s", ([name, surface]) => {
  const { scope, seed, list } = nouns[name] as Noun;
  const fields = (...ids: string[]) => ({ includePersonFieldIds: ids.join(",") });

  test("shows the linked person, or the only active person with the address", async ({ server }) => {
    await server.seed.personSchema();
    const make = (given: Partial<Row<"persons">> = {}) => server.seed.person({ ...person, ...given });
    const single = await make({ primaryEmail: "Single@Example.org" });
    // More than one step of a search takes, and early in its order.
    await seedMany(30, () => make({ primaryEmail: "crowd@example.org" }));
    await seedMany(2, () => make({ primaryEmail: "twin@example.org" }));
    const survivor = await make({ primaryEmail: "elsewhere@example.org" });
    const between = await make({ active: false, mergedIntoPersonId: survivor.personId });
    const merged = await make({ active: false, mergedIntoPersonId: between.personId });
    const inactive = await make({ active: false, primaryEmail: "inactive@example.org" });
    const anonymised = await make({ anonymizedAt: "2026-11-01T00:00:00.000Z", primaryEmail: "anon@example.org" });
    const besideInactive = await make({ primaryEmail: "inactive@example.org", customFields: {} });
    await (await server.other()).seed.person({ ...person, primaryEmail: "foreign@example.org" });
    const rows: readonly [email: string, linked: string | null, shown: string | undefined][] = [
      ["linked@example.org", survivor.personId, survivor.personId],
      ["merged@example.org", merged.personId, survivor.personId],
      ["SINGLE@example.org", null, single.personId],
      ["inactive@example.org", null, besideInactive.personId],
      ["of-inactive@example.org", inactive.personId, undefined],
      ["of-anon@example.org", anonymised.personId, undefined],
      ["anon@example.org", null, undefined],
      ["crowd@example.org", null, undefined],
      ["twin@example.org", null, undefined],
      ["foreign@example.org", null, undefined],
      ["nobody@example.org", null, undefined],
    ];
    for (const [email, personId] of rows) await seed(server, { email, personId });
    const caller = await server.as(surface, [scope, "reviewers:read", "persons:read"]);
    const plain = await list(caller, {});
    const expanded = await list(caller, fields(standard));
    for (const [email, , personId] of rows) {
      const legacy = plain.find((row) => row.email === email);
      const row = expanded.find((each) => each.email === email);
      expect(legacy, email).not.toHaveProperty("person");
      const customFields = personId === besideInactive.personId ? {} : { [standard]: "weaving" };
      expect(row, email).toEqual(personId ? { ...legacy, person: { personId, customFields } } : legacy);
    }
  });

  test("shows only the requested fields, and needs their scopes", async ({ server }) => {
    await server.seed.personSchema();
    const { personId } = await server.seed.person(person);
    await seed(server, { email: "grace@example.org", personId });
    const call = async (granted: readonly Scope[], ...ids: string[]) => {
      const caller = await server.as(surface, [scope, "reviewers:read", ...granted]);
      return list(caller, fields(...ids)).then(
        ([row]) => row?.person?.customFields,
        ({ code, details }) => [code, details],
      );
    };
    const { [standard]: craft, [pii]: birth, [restricted]: health } = person.customFields;
    const sensitive = ["persons:read", "persons:sensitive:read"] as const;
    const lacking = (...requiredScopes: Scope[]) => ["insufficient_scope", { requiredScopes }];
    expect(await call(["persons:read"], standard)).toEqual({ [standard]: craft });
    expect(await call(sensitive, standard)).toEqual({ [standard]: craft });
    expect(await call(sensitive, pii, restricted)).toEqual({ [pii]: birth, [restricted]: health });
    expect(await call(sensitive, ` ${pii} `, standard, pii)).toEqual({ [standard]: craft, [pii]: birth });
    expect(await call([], standard)).toEqual(lacking("persons:read"));
    expect(await call(["persons:sensitive:read"], pii)).toEqual(lacking("persons:read"));
    expect(await call(["persons:read"], standard, pii)).toEqual(lacking("persons:sensitive:read"));
    expect(await call(["persons:read"], restricted)).toEqual(lacking("persons:sensitive:read"));
  });

  test("accepts 25 field ids at most, all of them from the schema", async ({ server }) => {
    const ids = Array.from({ length: 26 }, (_, index) => `fld_${index}`);
    const made = ids.map((id) => field(id, id, "text", {})) as Row<"personSchemas">["fields"];
    await server.seed.personSchema({ fields: made });
    const { personId } = await server.seed.person({ customFields: Object.fromEntries(ids.map((id) => [id, id])) });
    await seed(server, { email: "grace@example.org", personId });
    const caller = await server.as(surface);
    const shown = async (given: readonly string[]) => (await list(caller, fields(...given)))[0]?.person?.customFields;
    expect(Object.keys((await shown(ids.slice(1))) ?? {}).sort()).toEqual(ids.slice(1).sort());
    expect(Object.keys((await shown([...ids.slice(2), "fld_2"])) ?? {})).toHaveLength(24);
    for (const refused of [ids, [...ids.slice(1), "fld_1"], ["fld_0", "fld_none"], [""], [" , "], ["constructor"]]) {
      const issues = [expect.objectContaining({ path: "includePersonFieldIds" })];
      await expect(shown(refused), String(refused)).rejects.toMatchProblem("validation_failed", { issues });
    }
  });
});

describe.each(Object.keys(nouns).slice(0, 2))("a hundred rows of %s", (name) => {
  const { seed, list } = nouns[name] as Noun;

  test("are expanded with no more statements than two rows", async ({ server }) => {
    await server.seed.personSchema();
    const caller = await server.as("REST");
    const make = (count: number) =>
      seedMany(count, async (index) => {
        const email = `p${index}.${count}@example.org`;
        const { personId } = await server.seed.person({ ...person, primaryEmail: email });
        await seed(server, { email, personId: index % 2 === 0 ? personId : null });
      });
    const query = { includePersonFieldIds: standard };
    const expanded = async () => (await list(caller, query)).filter((row) => row.person !== undefined).length;
    await make(2);
    const few = await recordStatements(async () => expect(await expanded()).toBe(2));
    await make(98);
    const many = await recordStatements(async () => expect(await expanded()).toBe(100));
    expect(many.length).toBe(few.length);
    expect(few.length).toBeGreaterThan(3);
    expect(many.length).toBeLessThanOrEqual(10);
  });
});
