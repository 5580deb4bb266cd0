import { describe, expect } from "vitest";
import { rest } from "../../support/clients/raw-http.ts";
import { readPages, seedMany } from "../../support/data/lists.ts";
import { personFieldIds } from "../../support/data/seed-factory.ts";
import { listChanges } from "../../support/data/state.ts";
import { surfaces, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

const { standard, pii, restricted } = personFieldIds;
const minimal = { kinds: ["contact"], provenance: { source: "crm" } };

const full = {
  kinds: ["applicant", "reviewer"],
  provenance: { source: "crm", sourceId: "77" },
  primaryEmail: "Nora@Example.org",
  contactDetails: {
    firstName: "Nora",
    lastName: "Quill",
    phone: "+46 8 1",
    organization: "ACME",
    title: "Dr",
    address: "Hill 1",
  },
  platformUserId: "user-9",
  customFields: { [standard]: "weaving", [pii]: "1980-01-02", [restricted]: "asthma" },
  externalRefs: [{ namespace: "crm", objectType: "contact", externalId: "C-7" }],
  metadata: { origin: "fair", nested: { list: [1, null, "x"] } },
};

describe.each(surfaces)("creating a person over %s", (surface) => {
  test("the given values are stored, and the others have their defaults", async ({ server }) => {
    const clerk = await server.as(surface);
    await server.seed.personSchema({ schemaVersion: 4 });
    const trace = await recordTrace(server, () => clerk.create_person(full));
    const now = server.clock.now().toISOString();
    expect(trace.data).toEqual({
      ...full,
      personId: expect.stringMatching(/^per_/),
      businessId: server.businessId,
      customFieldSchemaVersion: 4,
      active: true,
      anonymizedAt: null,
      mergedIntoPersonId: null,
      version: 0,
      createdAt: now,
      updatedAt: now,
      createdBy: expect.stringMatching(/^tok_/),
      updatedBy: trace.data.createdBy,
    });
    expect(trace).toMatchObject({ rows: ["persons inserted"], events: [], audit: ["person.created"] });
    expect(await clerk.get_person({ personId: trace.data.personId })).toEqual(trace.data);
    const entries = JSON.stringify(await listChanges(server.app.store, server.businessId));
    for (const value of [
      "Nora",
      "Quill",
      "+46",
      "ACME",
      "Hill",
      "user-9",
      "weaving",
      "1980",
      "asthma",
      "C-7",
      "fair",
    ]) {
      expect(entries).not.toContain(value);
    }
    expect(entries).toContain("contactDetails.phone");
  });

  test("only kinds and provenance are required, and repeated kinds are stored once", async ({ server }) => {
    const clerk = await server.as(surface);
    const bare = await clerk.create_person({ ...minimal, kinds: ["contact", "reviewer", "contact"] });
    expect(bare).toMatchObject({ kinds: ["contact", "reviewer"], customFields: {}, externalRefs: [], metadata: {} });
    for (const absent of ["primaryEmail", "contactDetails", "platformUserId"]) expect(bare).not.toHaveProperty(absent);
    expect((await clerk.create_person({ ...minimal, kinds: [] })).kinds).toEqual([]);
  });

  test("several persons may share an address and a platform user", async ({ server }) => {
    const clerk = await server.as(surface);
    const same = { ...minimal, primaryEmail: "twin@example.org", platformUserId: "twin" };
    const ids = [await clerk.create_person(same), await clerk.create_person(same)].map(({ personId }) => personId);
    expect(new Set(ids).size).toBe(2);
  });

  const refused: readonly [path: string, more: object][] = [
    ["kinds", { kinds: undefined }],
    ["kinds.0", { kinds: ["judge"] }],
    ["provenance.source", { provenance: { source: "" } }],
    ["provenance.sourceId", { provenance: { source: "crm", sourceId: "x".repeat(256) } }],
    ["provenance.by", { provenance: { source: "crm", by: "me" } }],
    ["primaryEmail", { primaryEmail: "nobody" }],
    ["primaryEmail", { primaryEmail: `${"x".repeat(244)}@example.org` }],
    ["contactDetails.firstName", { contactDetails: { firstName: "" } }],
    ["contactDetails.lastName", { contactDetails: { lastName: "x".repeat(101) } }],
    ["contactDetails.phone", { contactDetails: { phone: "1".repeat(51) } }],
    ["contactDetails.address", { contactDetails: { address: "x".repeat(501) } }],
    ["contactDetails.nickname", { contactDetails: { nickname: "No" } }],
    ["platformUserId", { platformUserId: "" }],
    ["customFields.fld_none", { customFields: { fld_none: "x" } }],
    ["externalRefs.0.externalId", { externalRefs: [{ namespace: "crm", objectType: "contact", externalId: "" }] }],
    ["metadata", { metadata: { text: "å".repeat(140_000) } }],
    ["active", { active: false }],
    ["personId", { personId: "per_mine" }],
  ];

  test("unknown input is refused with its path, and no person is created", async ({ server }) => {
    const clerk = await server.as(surface);
    for (const [path, more] of refused) {
      const trace = await recordTrace(server, () => clerk.create_person({ ...minimal, ...more }));
      expect(trace, path).toMatchObject({ problem: { code: "validation_failed" }, ...nothing });
      expect(trace.problem?.details["issues"], path).toMatchObject([{ path }]);
    }
  });
});

test("creating a person returns 201, and every other operation on persons 200", async ({ server }) => {
  const token = await server.token();
  const created = await rest(server, token, "create_person", minimal);
  const { personId, version } = created.body.data;
  const changed = await rest(server, token, "update_person", { personId, version, kinds: [] });
  expect([created.status, changed.status]).toEqual([201, 200]);
});

describe.each(surfaces)("changing a person over %s", (surface) => {
  const before = {
    primaryEmail: "grace@example.org",
    contactDetails: { firstName: "Grace", phone: "+46 8 1" },
    platformUserId: "user-1",
    kinds: ["applicant" as const],
    customFields: { [standard]: "weaving", [pii]: "1971-05-01" },
    provenance: { source: "test", sourceId: "1" },
    metadata: { a: 1, none: null, deep: { x: 1, y: [1] } },
  };

  const changes: readonly [patch: Record<string, unknown>, after: Record<string, unknown>, columns?: string][] = [
    [{ primaryEmail: "New@example.org" }, { primaryEmail: "New@example.org" }],
    [{ primaryEmail: null }, { primaryEmail: undefined }],
    [{ platformUserId: "user-2" }, { platformUserId: "user-2" }],
    [{ platformUserId: null }, { platformUserId: undefined }],
    [
      { contactDetails: { firstName: "Gro", title: "Dr" } },
      { contactDetails: { firstName: "Gro", phone: "+46 8 1", title: "Dr" } },
    ],
    [{ contactDetails: null }, { contactDetails: undefined }],
    [{ kinds: ["contact", "reviewer", "contact"] }, { kinds: ["contact", "reviewer"] }],
    [{ kinds: [] }, { kinds: [] }],
    [{ customFields: { [restricted]: "none" } }, { customFields: { ...before.customFields, [restricted]: "none" } }],
    [{ customFields: { [standard]: null } }, { customFields: { [pii]: "1971-05-01" } }],
    [{ provenance: { source: "crm" } }, { provenance: { source: "crm" } }],
    [{ metadata: { b: 2, a: null } }, { metadata: { none: null, deep: { x: 1, y: [1] }, b: 2 } }],
    [{ metadata: { deep: { z: 1 } } }, { metadata: { a: 1, none: null, deep: { z: 1 } } }],
  ];

  test("only the given fields change, and null clears a field", async ({ server }) => {
    const clerk = await server.as(surface);
    await server.seed.personSchema();
    for (const [patch, after] of changes) {
      const row = await server.seed.person(before);
      const trace = await recordTrace(server, () =>
        clerk.update_person({ personId: row.personId, version: 0, ...patch }),
      );
      const { updatedAt: _, updatedBy: __, ...kept } = row;
      const expected = Object.entries({ ...kept, ...after, version: 1 }).filter(([, value]) => value !== undefined);
      expect(trace.data, JSON.stringify(patch)).toEqual({
        ...Object.fromEntries(expected),
        updatedAt: expect.any(String),
        updatedBy: expect.stringMatching(/^tok_/),
      });
      expect(trace.rows).toEqual([`persons updated: ${Object.keys(patch)}`]);
      expect(trace).toMatchObject({ events: [], audit: ["person.updated"] });
    }
  });

  const idle: readonly Record<string, unknown>[] = [
    {},
    { ...before, metadata: { a: 1, deep: before.metadata.deep } },
    { contactDetails: {} },
    { contactDetails: { phone: "+46 8 1" } },
    { customFields: {} },
    { customFields: { [restricted]: null } },
    { metadata: {} },
    { metadata: { unknown: null } },
  ];

  test("a change without effect writes nothing", async ({ server }) => {
    const clerk = await server.as(surface);
    await server.seed.personSchema();
    const row = await server.seed.person(before);
    for (const patch of idle) {
      const trace = await recordTrace(server, () =>
        clerk.update_person({ personId: row.personId, version: 0, ...patch }),
      );
      expect(trace, JSON.stringify(patch)).toMatchObject({ data: row, ...nothing });
    }
    const { primaryEmail: _, contactDetails: __, ...bare } = before;
    const empty = await server.write((tx) => tx.insert("persons", { ...bareRow(row), ...bare, personId: "per_bare" }));
    for (const patch of [{ primaryEmail: null, contactDetails: null }, { contactDetails: {} }]) {
      const trace = await recordTrace(server, () =>
        clerk.update_person({ personId: "per_bare", version: 0, ...patch }),
      );
      expect(trace).toMatchObject({ data: empty, ...nothing });
    }
  });

  test("an outdated version is refused with the current one, and another tenant's person is not found", async ({
    server,
  }) => {
    const clerk = await server.as(surface);
    const { personId } = await server.seed.person();
    await clerk.update_person({ personId, version: 0, kinds: ["contact"] });
    const stale = await recordTrace(server, () => clerk.update_person({ personId, version: 0, kinds: ["reviewer"] }));
    expect(stale).toMatchObject({ problem: { code: "version_conflict", details: { currentVersion: 1 } }, ...nothing });
    const other = await server.other();
    const foreign = await other.seed.person();
    const calls = [
      () => clerk.update_person({ personId: foreign.personId, version: 0, kinds: ["contact"] }),
      () => clerk.get_person({ personId: foreign.personId }),
      () => clerk.get_person({ personId: "per_none" }),
    ];
    for (const call of calls)
      expect(await recordTrace(server, call)).toMatchObject({ problem: { code: "not_found" }, ...nothing });
  });

  test("the size limit of metadata holds over many changes", async ({ server }) => {
    const clerk = await server.as(surface);
    const { personId } = await server.seed.person();
    const chunk = "x".repeat(100_000);
    await clerk.update_person({ personId, version: 0, metadata: { a: chunk, b: chunk } });
    const trace = await recordTrace(server, () =>
      clerk.update_person({ personId, version: 1, metadata: { c: chunk } }),
    );
    expect(trace).toMatchObject({ problem: { code: "validation_failed" }, ...nothing });
    await clerk.update_person({ personId, version: 1, metadata: { a: null, c: chunk } });
  });
});

describe.each(surfaces)("listing persons over %s", (surface) => {
  const idsOf = (rows: readonly { personId: string }[]) => rows.map(({ personId }) => personId);

  test("returns persons in any state, newest first, and accepts both names of the cursor", async ({ server }) => {
    const clerk = await server.as(surface);
    await (await server.other()).seed.person();
    const rows = await seedMany(5, (index) => server.seed.person({ active: index !== 2 }));
    const newest = rows.toReversed();
    expect((await readPages(clerk, "list_persons", { limit: 2 })).flat()).toEqual(newest);
    const { page } = await clerk.call("list_persons", { limit: 2 });
    const cursor = page?.lastEvaluatedKey;
    for (const query of [{ cursor }, { lastEvaluatedKey: cursor }, { cursor, lastEvaluatedKey: cursor }]) {
      expect(await clerk.list_persons({ limit: 2, ...query })).toEqual(newest.slice(2, 4));
    }
    const two = clerk.list_persons({ cursor, lastEvaluatedKey: "other" });
    const issues = ["cursor", "lastEvaluatedKey"].map((path) => expect.objectContaining({ path, code: "conflicting" }));
    await expect(two).rejects.toMatchProblem("validation_failed", { issues });
  });

  test("updatedAfter returns persons that changed after that time, oldest change first", async ({ server }) => {
    const clerk = await server.as(surface);
    const rows = await seedMany(4, () => {
      server.clock.advance(60_000);
      return server.seed.person();
    });
    const [first, second, third, fourth] = idsOf(rows);
    server.clock.advance(60_000);
    const changed = await clerk.update_person({ personId: first, version: 0, kinds: ["contact"] });
    const since = async (updatedAfter: string) => idsOf(await clerk.list_persons({ updatedAfter }));
    expect(await since("2026-11-20")).toEqual([second, third, fourth, first]);
    expect(await since(rows[1]?.updatedAt ?? "")).toEqual([third, fourth, first]);
    expect(await since(changed.updatedAt)).toEqual([]);
    const pages = await readPages<{ personId: string }>(clerk, "list_persons", {
      updatedAfter: "2026-11-20",
      limit: 1,
    });
    expect(idsOf(pages.flat())).toEqual([second, third, fourth, first]);
  });

  test("a cursor is accepted only for its own list and tenant", async ({ server }) => {
    const clerk = await server.as(surface);
    const stranger = await (await server.other()).as(surface);
    await seedMany(3, () => server.seed.person());
    const { page } = await clerk.call("list_persons", { limit: 1 });
    const cursor = page?.lastEvaluatedKey;
    const calls = [
      () => stranger.list_persons({ cursor }),
      () => clerk.list_persons({ cursor, updatedAfter: "2026-11-20" }),
      () => clerk.list_applicants({ lastEvaluatedKey: cursor }),
      () => clerk.list_persons({ cursor: `${cursor}A` }),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchProblem("invalid_cursor");
  });
});

function bareRow({
  personId: _,
  primaryEmail: __,
  contactDetails: ___,
  ...row
}: Awaited<ReturnType<TestServer["seed"]["person"]>>) {
  return row;
}
