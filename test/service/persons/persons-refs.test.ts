import { describe, expect } from "vitest";
import type { Row } from "../../../src/store/tables.ts";
import { seedMany } from "../../support/data/lists.ts";
import { surfaces, type TestCaller, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

const ref = (externalId: string, more = {}) => ({ namespace: "crm", objectType: "contact", externalId, ...more });
const minimal = { kinds: ["contact"], provenance: { source: "crm" } };

describe.each(surfaces)("external references over %s", (surface) => {
  test("are added at the end of the list and removed by namespace, type and id together", async ({ server }) => {
    const clerk = await server.as(surface);
    const { personId } = await server.seed.person({ externalRefs: [ref("A")] });
    const added = await recordTrace(server, () =>
      clerk.add_person_external_ref({ personId, version: 0, externalRef: ref("B") }),
    );
    expect(added).toMatchObject({
      data: { externalRefs: [ref("A"), ref("B")], version: 1 },
      rows: ["persons updated: externalRefs"],
      events: [],
      audit: ["person.external_ref_added"],
    });
    for (const wrong of [{ namespace: "erp" }, { objectType: "lead" }, { externalId: "a" }]) {
      const trace = await recordTrace(server, () =>
        clerk.remove_person_external_ref({ personId, version: 1, ...ref("A", wrong) }),
      );
      expect(trace).toMatchObject({ problem: { code: "not_found" }, ...nothing });
    }
    const removed = await recordTrace(server, () =>
      clerk.remove_person_external_ref({ personId, version: 1, ...ref("A") }),
    );
    expect(removed).toMatchObject({
      data: { externalRefs: [ref("B")], version: 2 },
      rows: ["persons updated: externalRefs"],
      events: [],
      audit: ["person.external_ref_removed"],
    });
  });

  test("adding one that the person already has changes nothing", async ({ server }) => {
    const clerk = await server.as(surface);
    const row = await server.seed.person({ externalRefs: [ref("A")] });
    const { personId } = row;
    const again = () => clerk.add_person_external_ref({ personId, version: 0, externalRef: ref("A") });
    expect(await recordTrace(server, again)).toMatchObject({ data: row, ...nothing });
  });

  test("one reference belongs to one person of a tenant, and a reference that differs in any part is another one", async ({
    server,
  }) => {
    const clerk = await server.as(surface);
    const other = await server.other();
    const stranger = await other.as(surface);
    const holder = await server.seed.person({ externalRefs: [ref("A")] });
    await server.seed.person({ externalRefs: [ref("B")], active: false });
    const { personId } = await server.seed.person();
    const taken: readonly (() => Promise<unknown>)[] = [
      () => clerk.create_person({ ...minimal, externalRefs: [ref("new"), ref("A")] }),
      () => clerk.create_person({ ...minimal, externalRefs: [ref("new"), ref("new")] }),
      () => clerk.add_person_external_ref({ personId, version: 0, externalRef: ref("A") }),
      () => clerk.add_person_external_ref({ personId, version: 0, externalRef: ref("B") }),
    ];
    for (const call of taken) {
      const trace = await recordTrace(server, call);
      const details = { namespace: "crm", objectType: "contact" };
      expect(trace).toMatchObject({ problem: { code: "duplicate_external_ref" }, ...nothing });
      expect(trace.problem?.details).toEqual(details);
    }
    const others = [ref("a"), ref("A", { namespace: "CRM" }), ref("A", { objectType: "lead" })];
    const made = await clerk.create_person({ ...minimal, externalRefs: others });
    expect(made.externalRefs).toEqual(others);
    expect((await stranger.create_person({ ...minimal, externalRefs: [ref("A")] })).externalRefs).toEqual([ref("A")]);
    await clerk.remove_person_external_ref({ personId: holder.personId, version: 0, ...ref("A") });
    const freed = await clerk.add_person_external_ref({ personId, version: 0, externalRef: ref("A") });
    expect(freed.externalRefs).toEqual([ref("A")]);
  });

  test("one person has 500 at most", async ({ server }) => {
    const clerk = await server.as(surface);
    const externalRefs = Array.from({ length: 500 }, (_, index) => ref(`N-${index}`));
    const { personId } = await server.seed.person({ externalRefs });
    const more = (externalId: string) => () =>
      clerk.add_person_external_ref({ personId, version: 0, externalRef: ref(externalId) });
    expect(await recordTrace(server, more("N-500"))).toMatchObject({
      problem: { code: "validation_failed" },
      ...nothing,
    });
    expect(await recordTrace(server, more("N-499"))).toMatchObject(nothing);
    const created = clerk.create_person({ ...minimal, externalRefs: externalRefs.slice(0, 101) });
    await expect(created).rejects.toMatchProblem("validation_failed");
  });
});

/** Every operation that writes to a person, as the person and version it is given. */
const writes: Readonly<Record<string, (clerk: TestCaller, person: Row<"persons">, spare: string) => Promise<unknown>>> =
  {
    update: (clerk, { personId, version }) => clerk.update_person({ personId, version, kinds: ["reviewer"] }),
    "update of nothing": (clerk, { personId, version }) => clerk.update_person({ personId, version }),
    "add reference": (clerk, { personId, version }) =>
      clerk.add_person_external_ref({ personId, version, externalRef: ref("new") }),
    "remove reference": (clerk, { personId, version }) =>
      clerk.remove_person_external_ref({ personId, version, ...ref("own") }),
    "merge into another": (clerk, { personId, version }, targetPersonId) =>
      clerk.merge_person({ personId, targetPersonId, sourceVersion: version, targetVersion: 0 }),
    "merge of another": (clerk, { personId, version }, spare) =>
      clerk.merge_person({ personId: spare, targetPersonId: personId, sourceVersion: 0, targetVersion: version }),
  };

/** Persons who take no writes, and what each is refused with. */
async function seedClosed({ seed }: TestServer) {
  const survivor = await seed.person();
  const own = { externalRefs: [ref("own")] };
  const between = await seed.person({ active: false, mergedIntoPersonId: survivor.personId });
  const merged = await seed.person({ ...own, active: false, mergedIntoPersonId: between.personId });
  const anonymised = await seed.person({ anonymizedAt: "2026-11-01T00:00:00.000Z" });
  const inactive = await seed.person({ active: false });
  return [
    [merged, "person_merged", { mergedIntoPersonId: survivor.personId }],
    [anonymised, "person_inactive", { personId: anonymised.personId }],
    [inactive, "person_inactive", { personId: inactive.personId }],
  ] as const;
}

describe.each(surfaces)("over %s a person who is merged, anonymised or inactive", (surface) => {
  test.for(Object.entries(writes))("is refused by: %s", async ([, write], { server }) => {
    const clerk = await server.as(surface);
    const { personId: spare } = await server.seed.person();
    for (const [person, code, details] of await seedClosed(server)) {
      for (const version of [person.version, 7]) {
        const trace = await recordTrace(server, () => write(clerk, { ...person, version }, spare));
        expect(trace).toMatchObject({ problem: { code, details }, ...nothing });
      }
      expect(await clerk.get_person({ personId: person.personId })).toEqual(person);
    }
  });

  test.for(Object.entries(writes))("and a person who is unknown or of another tenant is not found by: %s", async ([
    ,
    write,
  ], { server }) => {
    const clerk = await server.as(surface);
    const other = await server.other();
    const [own, foreign] = [await server.seed.person(), await other.seed.person({ externalRefs: [ref("own")] })];
    const none = { ...foreign, personId: "per_none" };
    for (const person of [foreign, none]) {
      const trace = await recordTrace(server, () => write(clerk, person, own.personId));
      expect(trace).toMatchObject({ problem: { code: "not_found" }, ...nothing });
    }
  });

  test.for(Object.entries(writes))("and a person at another version is not changed by: %s", async ([, write], {
    server,
  }) => {
    const clerk = await server.as(surface);
    const { personId: spare } = await server.seed.person();
    const person = await server.seed.person({ externalRefs: [ref("own")] });
    await clerk.update_person({ personId: person.personId, version: 0, kinds: [] });
    for (const version of [0, 2]) {
      const trace = await recordTrace(server, () => write(clerk, { ...person, version }, spare));
      expect(trace).toMatchObject({
        problem: { code: "version_conflict", details: { currentVersion: 1 } },
        ...nothing,
      });
    }
  });
});

describe.each(surfaces)("resolving persons over %s", (surface) => {
  async function peopleOf({ seed, clock }: TestServer) {
    const twin = { primaryEmail: "Twin@Example.org", platformUserId: "user-twin" };
    const [one, two] = await seedMany(2, () => {
      clock.advance(1000);
      return seed.person(twin);
    });
    const inactive = await seed.person({ ...twin, active: false, externalRefs: [ref("inactive")] });
    const anonymised = await seed.person({
      ...twin,
      anonymizedAt: "2026-11-01T00:00:00.000Z",
      externalRefs: [ref("anon")],
    });
    const survivor = await seed.person({ externalRefs: [ref("S"), ref("T", { namespace: "erp" })] });
    const between = await seed.person({ ...twin, active: false, mergedIntoPersonId: survivor.personId });
    const merged = await seed.person({ ...twin, active: false, mergedIntoPersonId: between.personId });
    return { one, two, inactive, anonymised, survivor, between, merged };
  }

  test("each selector finds the active persons that match", async ({ server }) => {
    const clerk = await server.as(surface);
    await peopleOf(await server.other());
    const { one, two, inactive, anonymised, survivor, between, merged } = await peopleOf(server);
    const answers: readonly [query: Record<string, unknown>, found: unknown[]][] = [
      [{ personId: two?.personId }, [two]],
      [{ personId: between.personId }, [survivor]],
      [{ personId: merged.personId }, [survivor]],
      [{ personId: inactive.personId }, []],
      [{ personId: anonymised.personId }, []],
      [{ personId: "per_none" }, []],
      [{ email: "Twin@Example.org" }, [one, two]],
      [{ email: "twin@example.ORG" }, [one, two]],
      [{ email: "twin@example.com" }, []],
      [{ platformUserId: "user-twin" }, [one, two]],
      [{ platformUserId: "USER-TWIN" }, []],
      [ref("S"), [survivor]],
      [ref("T", { namespace: "erp" }), [survivor]],
      [ref("s"), []],
      [ref("T"), []],
      [ref("inactive"), []],
      [ref("anon"), []],
    ];
    for (const [query, found] of answers) {
      expect(await clerk.resolve_persons(query), JSON.stringify(query)).toEqual(found);
    }
  });

  test("a person is found by the current address only", async ({ server }) => {
    const clerk = await server.as(surface);
    const { personId } = await server.seed.person({ primaryEmail: "old@example.org" });
    const person = await clerk.update_person({ personId, version: 0, primaryEmail: "New@example.org" });
    expect(await clerk.resolve_persons({ email: "new@example.org" })).toEqual([person]);
    expect(await clerk.resolve_persons({ email: "old@example.org" })).toEqual([]);
    await clerk.update_person({ personId, version: 1, primaryEmail: null });
    expect(await clerk.resolve_persons({ email: "new@example.org" })).toEqual([]);
  });

  const triple = ["namespace", "objectType", "externalId"];
  const refused: readonly [query: Record<string, unknown>, code: string, ...paths: string[]][] = [
    [{}, "required", "personId", "email", "platformUserId", ...triple],
    [{ personId: "per_1", email: "a@example.org" }, "conflicting", "email", "personId"],
    [{ email: "a@example.org", platformUserId: "u" }, "conflicting", "email", "platformUserId"],
    [{ personId: "per_1", ...ref("A") }, "conflicting", "personId", ...triple],
    [{ email: "a@example.org", externalId: "A" }, "conflicting", "email", "externalId"],
    [{ namespace: "crm" }, "required", "objectType", "externalId"],
    [{ namespace: "crm", externalId: "A" }, "required", "objectType"],
    [{ objectType: "contact", externalId: "A" }, "required", "namespace"],
    [{ email: "nobody" }, "invalid_format", "email"],
    [{ personId: "" }, "too_small", "personId"],
    [{ name: "Grace" }, "unrecognized_keys", "name"],
  ];

  test("needs exactly one selector, and all parts of a reference", async ({ server }) => {
    const clerk = await server.as(surface);
    for (const [query, code, ...paths] of refused) {
      const problem = await clerk.resolve_persons(query).catch((error) => error);
      expect(problem, JSON.stringify(query)).toMatchObject({ code: "validation_failed" });
      const issues: readonly { path: string; code: string }[] = problem.details.issues;
      expect(issues.map(({ path }) => path).sort(), JSON.stringify(query)).toEqual([...paths].sort());
      expect(new Set(issues.map((issue) => issue.code))).toEqual(new Set([code]));
    }
  });
});

test("resolving a shared address returns 100 persons at most", async ({ server }) => {
  const clerk = await server.as("REST");
  const row = await server.seed.person({ primaryEmail: "many@example.org" });
  await server.write(async (tx) => {
    for (let index = 0; index < 100; index += 1) await tx.insert("persons", { ...row, personId: `per_${index}` });
  });
  expect(await clerk.resolve_persons({ email: "many@example.org" })).toHaveLength(100);
});
