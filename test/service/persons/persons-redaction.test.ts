import { describe, expect } from "vitest";
import type { Scope } from "../../../src/contract/access/scopes.ts";
import type { Row } from "../../../src/store/tables.ts";
import { field, personFieldIds } from "../../support/data/seed-factory.ts";
import { surfaces, type TestCaller, type TestServer, test } from "../../support/servers/test-server.ts";

type PersonRow = Row<"persons">;

const { standard, pii, restricted } = personFieldIds;
const standardScopes: readonly Scope[] = ["persons:read", "persons:write"];

let refs = 0;

/** Creates a person with a value in every field. */
function seedFull({ seed }: TestServer, given: Partial<PersonRow> = {}): Promise<PersonRow> {
  refs += 1;
  return seed.person({
    primaryEmail: "grace@example.org",
    contactDetails: { firstName: "Grace", lastName: "Lindqvist", phone: "+46 8 123 456" },
    platformUserId: "user-1",
    customFields: { [standard]: "weaving", [pii]: "1971-05-01", [restricted]: "asthma", fld_gone: "stale" },
    externalRefs: [{ namespace: "crm", objectType: "contact", externalId: `C-${refs}` }],
    metadata: { note: "met at the fair" },
    ...given,
  });
}

/** Returns the view of a person without the scope for sensitive data. */
function standardView({ primaryEmail: _, contactDetails: __, ...row }: PersonRow) {
  return {
    ...row,
    customFields: Object.fromEntries(Object.entries(row.customFields).filter(([fieldId]) => fieldId === standard)),
    externalRefs: row.externalRefs.map(({ namespace, objectType }) => ({ namespace, objectType })),
    metadata: {},
  };
}

/** Every operation that returns persons. */
const answers: Readonly<
  Record<string, (caller: TestCaller, person: PersonRow, server: TestServer) => Promise<PersonRow>>
> = {
  get: (caller, { personId }) => caller.get_person({ personId }),
  list: async (caller) => (await caller.list_persons({ limit: 1 }))[0],
  "resolve by id": async (caller, { personId }) => (await caller.resolve_persons({ personId }))[0],
  "resolve by e-mail": async (caller) => (await caller.resolve_persons({ email: "GRACE@example.org" })).at(-1),
  "resolve by reference": async (caller, { externalRefs }) => (await caller.resolve_persons({ ...externalRefs[0] }))[0],
  update: (caller, { personId, version }) =>
    caller.update_person({
      personId,
      version,
      primaryEmail: "new@example.org",
      contactDetails: { title: "Dr" },
      customFields: { [pii]: "1972-06-02" },
      metadata: { more: "secret" },
    }),
  "update of nothing": (caller, { personId, version }) => caller.update_person({ personId, version }),
  "add reference": (caller, { personId, version }) =>
    caller.add_person_external_ref({
      personId,
      version,
      externalRef: { namespace: "erp", objectType: "party", externalId: `P-${personId}` },
    }),
  "remove reference": (caller, { personId, version, externalRefs }) =>
    caller.remove_person_external_ref({ personId, version, ...externalRefs[0] }),
  merge: async (caller, { personId, version }, server) => {
    const source = await seedFull(server, { primaryEmail: "source@example.org" });
    const versions = { sourceVersion: 0, targetVersion: version };
    return caller.merge_person({ personId: source.personId, targetPersonId: personId, ...versions });
  },
  create: (caller, { customFields: { fld_gone: _, ...customFields }, contactDetails, metadata }) =>
    caller.create_person({
      kinds: ["contact"],
      provenance: { source: "crm" },
      primaryEmail: "grace@example.org",
      customFields,
      contactDetails,
      metadata,
      externalRefs: [{ namespace: "erp", objectType: "party", externalId: "P-77" }],
    }),
};

describe.each(surfaces)("a person over %s", (surface) => {
  test.for(Object.entries(answers))("is redacted by the token's scopes in the answer of %s", async ([, answer], {
    server,
  }) => {
    await server.seed.personSchema();
    for (const sensitive of [false, true]) {
      const own = await server.other();
      await own.seed.personSchema();
      const caller = await own.as(surface, sensitive ? [...standardScopes, "persons:sensitive:read"] : standardScopes);
      const shown = await answer(caller, await seedFull(own), own);
      const row = (await own.app.store.reader(own.businessId).get("persons", shown.personId)) as PersonRow;
      expect(Object.keys(row.customFields)).toContain(pii);
      expect(shown).toEqual(sensitive ? row : standardView(row));
    }
  });

  test("keeps the fields that a writer cannot see", async ({ server }) => {
    await server.seed.personSchema();
    const row = await seedFull(server);
    const clerk = await server.as(surface, standardScopes);
    const { personId, version, kinds, provenance, customFields, metadata, platformUserId } = await clerk.get_person({
      personId: row.personId,
    });
    const seen = { kinds, provenance, customFields, metadata, platformUserId };
    expect(await clerk.update_person({ personId, version, ...seen })).toMatchObject({ version: 0 });
    const change = {
      contactDetails: { phone: "+46 8 999" },
      customFields: { [standard]: "dyeing" },
      metadata: { tag: 1 },
    };
    await clerk.update_person({ personId, version, ...change });
    const externalRef = { namespace: "erp", objectType: "party", externalId: "P-1" };
    await clerk.add_person_external_ref({ personId, version: 1, externalRef });
    expect(await (await server.as(surface)).get_person({ personId })).toMatchObject({
      primaryEmail: row.primaryEmail,
      contactDetails: { firstName: "Grace", lastName: "Lindqvist", phone: "+46 8 999" },
      customFields: { ...row.customFields, [standard]: "dyeing" },
      externalRefs: [...row.externalRefs, externalRef],
      metadata: { note: "met at the fair", tag: 1 },
    });
  });

  test("shows as standard the fields that the schema in force declares standard, even if another schema is newer", async ({
    server,
  }) => {
    const schema = (schemaVersion: number, sensitivity: "standard" | "pii", given = {}) => {
      // The schema may be cached for half a minute.
      server.clock.advance(31_000);
      return server.seed.personSchema({
        schemaVersion,
        fields: [field("fld_x", "x", "text", { sensitivity })] as Row<"personSchemas">["fields"],
        ...given,
      });
    };
    const { personId } = await server.seed.person({ customFields: { fld_x: "secret" } });
    await server.seed.applicant({ personId });
    const clerk = await server.as(surface, [...standardScopes, "applicants:read", "person-fields:read"]);
    const expanded = () =>
      clerk.list_applicants({ includePersonFieldIds: "fld_x" }).then(
        ([row]) => row.person.customFields,
        ({ code }) => code,
      );
    const shown = async () => ({
      person: (await clerk.get_person({ personId })).customFields,
      applicant: await expanded(),
    });
    const hidden = { person: {}, applicant: "insufficient_scope" };
    const visible = { person: { fld_x: "secret" }, applicant: { fld_x: "secret" } };
    expect(await shown()).toEqual({ person: {}, applicant: "validation_failed" });
    await schema(2, "pii");
    expect(await shown()).toEqual(hidden);
    await schema(1, "standard");
    await schema(3, "standard", { active: false });
    await schema(4, "standard", { published: false });
    expect(await shown()).toEqual(hidden);
    await schema(5, "standard");
    await schema(3, "pii");
    expect(await shown()).toEqual(visible);
  });

  test("is not revealed by an error", async ({ server }) => {
    await server.seed.personSchema();
    const clerk = await server.as(surface, standardScopes);
    const row = await seedFull(server);
    const { externalRefs } = row;
    const update = { personId: row.personId, version: 0 };
    const refused = [
      () => clerk.create_person({ kinds: [], provenance: { source: "crm" }, externalRefs }),
      () => clerk.update_person({ ...update, customFields: { [pii]: "not-a-date" } }),
      () => clerk.update_person({ ...update, primaryEmail: "not-an-address", contactDetails: { phone: "" } }),
    ];
    for (const call of refused) {
      const problem = await call().catch((error) => error);
      expect(problem.code).toMatch(/duplicate_external_ref|validation_failed/);
      expect(JSON.stringify([problem.message, problem.details])).not.toMatch(/not-a|1971|C-\d|@|Grace/);
    }
  });
});
