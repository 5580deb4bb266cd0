import { describe, expect } from "vitest";
import type { Row } from "../../../src/store/tables.ts";
import { personFieldIds } from "../../support/data/seed-factory.ts";
import { surfaces, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

const { standard, pii, restricted } = personFieldIds;
const ref = (externalId: string) => ({ namespace: "crm", objectType: "contact", externalId });

const source = {
  primaryEmail: "source@example.org",
  contactDetails: { firstName: "Sara", phone: "+46 8 1" },
  platformUserId: "user-s",
  kinds: ["contact" as const, "applicant" as const],
  customFields: { [standard]: "weaving", [pii]: "1971-05-01" },
  customFieldSchemaVersion: 2,
  externalRefs: [ref("S1"), ref("S2")],
  metadata: { a: 1, b: { x: 1 } },
  provenance: { source: "import" },
};
const target = {
  primaryEmail: "target@example.org",
  contactDetails: { firstName: "Sarah", title: "Dr" },
  platformUserId: undefined,
  kinds: ["reviewer" as const, "contact" as const],
  customFields: { [standard]: "dyeing", [restricted]: "asthma" },
  externalRefs: [ref("T1")],
  metadata: { b: { y: 2 } },
  provenance: { source: "form", sourceId: "9" },
};
const united = {
  primaryEmail: "target@example.org",
  contactDetails: { firstName: "Sarah", phone: "+46 8 1", title: "Dr" },
  platformUserId: "user-s",
  kinds: ["reviewer", "contact", "applicant"],
  customFields: { [standard]: "dyeing", [pii]: "1971-05-01", [restricted]: "asthma" },
  customFieldSchemaVersion: 2,
  externalRefs: [ref("T1"), ref("S1"), ref("S2")],
  metadata: { a: 1, b: { y: 2 } },
  provenance: { source: "form", sourceId: "9" },
  active: true,
  mergedIntoPersonId: null,
  version: 1,
};

type Person = Row<"persons">;

/** A merge of two persons at their versions. */
const into = (from: Person, to: Person, more = {}) => ({
  personId: from.personId,
  targetPersonId: to.personId,
  sourceVersion: from.version,
  targetVersion: to.version,
  ...more,
});

async function pairOf({ seed }: TestServer, given: Partial<Person> = {}) {
  await seed.personSchema();
  return { from: await seed.person({ ...source, ...given }), to: await seed.person(target as Partial<Person>) };
}

describe.each(surfaces)("merging persons over %s", (surface) => {
  test("the target keeps its own values and gets those that it lacks, and the source becomes merged", async ({
    server,
  }) => {
    const clerk = await server.as(surface);
    const { from, to } = await pairOf(server);
    const bystander = await server.seed.person({ primaryEmail: "source@example.org" });
    const trace = await recordTrace(server, () => clerk.merge_person(into(from, to)));
    expect(trace.data).toMatchObject({ ...united, personId: to.personId });
    expect(trace.data.customFields).toEqual(united.customFields);
    expect(trace.data.contactDetails).toEqual(united.contactDetails);
    expect(trace.rows).toEqual([
      "persons updated: active externalRefs mergedIntoPersonId",
      "persons updated: contactDetails customFieldSchemaVersion customFields externalRefs kinds metadata platformUserId",
    ]);
    expect(trace).toMatchObject({ events: [], audit: ["person.merged", "person.merged"] });
    expect(await clerk.get_person({ personId: from.personId })).toMatchObject({
      ...source,
      externalRefs: [],
      active: false,
      mergedIntoPersonId: to.personId,
      version: 1,
    });
    expect(await clerk.get_person({ personId: bystander.personId })).toEqual(bystander);
    expect(await clerk.resolve_persons(ref("S2"))).toEqual([trace.data]);
    expect(await clerk.resolve_persons({ email: "source@example.org" })).toEqual([bystander]);
    expect(await clerk.resolve_persons({ platformUserId: "user-s" })).toEqual([trace.data]);
  });

  test("custom fields that prefer the source are taken from it if it has them", async ({ server }) => {
    const clerk = await server.as(surface);
    const { from, to } = await pairOf(server, { customFields: { ...source.customFields, fld_stale: "old" } });
    const preferSourceCustomFieldIds = [standard, restricted, "fld_stale", standard];
    expect((await clerk.merge_person(into(from, to, { preferSourceCustomFieldIds }))).customFields).toEqual({
      ...united.customFields,
      [standard]: "weaving",
      fld_stale: "old",
    });
  });

  test("the target takes over the address and contact details that it lacks, if the source has them", async ({
    server,
  }) => {
    const clerk = await server.as(surface);
    const { from } = await pairOf(server);
    const bare = async () => {
      const { primaryEmail: _, contactDetails: __, personId: ___, ...row } = await server.seed.person();
      return server.write((tx) => tx.insert("persons", { ...row, personId: `per_${row.updatedAt}` }));
    };
    const [one, two] = [await bare(), await bare()];
    const { contactDetails, primaryEmail } = source;
    expect(await clerk.merge_person(into(from, one))).toMatchObject({ contactDetails, primaryEmail });
    const third = await bare();
    const empty = await clerk.merge_person(into(two, third));
    for (const absent of ["primaryEmail", "contactDetails", "platformUserId"]) expect(empty).not.toHaveProperty(absent);
  });

  test("references to the source lead to the target afterwards, and no other record changes", async ({ server }) => {
    const clerk = await server.as(surface);
    const { from, to } = await pairOf(server);
    const { personId } = from;
    const other = await server.other();
    const elsewhere = await other.seed.person();
    await other.seed.applicant({ personId: elsewhere.personId });
    await server.seed.applicant({ personId });
    await server.seed.applicant({ personId: to.personId, email: "b@example.org" });
    await server.seed.applicant({ personId: null, email: "source@example.org" });
    await server.seed.reviewer({ personId });
    await server.seed.reviewer();
    const { programId } = await server.seed.program({ lifecycleStatus: "archived" });
    const { trackId } = await server.seed.track({ programId });
    for (const applicantPersonId of [personId, personId, to.personId, null]) {
      await server.seed.submission({ trackId, applicantPersonId });
    }
    const earlier = await server.seed.person({ active: false, mergedIntoPersonId: personId });
    const trace = await recordTrace(server, () => clerk.merge_person(into(from, to)));
    expect(trace.rows).toEqual([
      "applicants updated: personId",
      "persons updated: active externalRefs mergedIntoPersonId",
      "persons updated: contactDetails customFieldSchemaVersion customFields externalRefs kinds metadata platformUserId",
      "persons updated: mergedIntoPersonId",
      "reviewers updated: personId",
      "submissions updated: applicantPersonId",
      "submissions updated: applicantPersonId",
    ]);
    const reader = server.app.store.reader(server.businessId);
    expect(await reader.get("persons", earlier.personId)).toMatchObject({ mergedIntoPersonId: to.personId });
    expect(await reader.count("submissions", { where: { applicantPersonId: to.personId } })).toBe(3);
    expect(await reader.count("applicants", { where: { personId: to.personId } })).toBe(2);
    expect(await reader.count("reviewers", { where: { personId: to.personId } })).toBe(1);
    expect(trace).toMatchObject({ events: [] });
    expect(new Set(trace.audit)).toEqual(
      new Set(["applicant.updated", "person.merged", "reviewer.updated", "submission.updated"]),
    );
  });

  test("a chain of merges leads to the last target, in any order", async ({ server }) => {
    const clerk = await server.as(surface);
    const [a, b, c, d] = [
      await server.seed.person(),
      await server.seed.person(),
      await server.seed.person(),
      await server.seed.person(),
    ];
    const { applicantId } = await server.seed.applicant({ personId: a.personId });
    const second = await clerk.merge_person(into(a, b));
    const fourth = await clerk.merge_person(into(c, d));
    const last = await clerk.merge_person(into(second, fourth));
    for (const { personId } of [a, b, c, d]) expect(await clerk.resolve_persons({ personId })).toEqual([last]);
    for (const { personId } of [a, b, c]) {
      const refused = clerk.update_person({ personId, version: 1, kinds: [] });
      await expect(refused).rejects.toMatchProblem("person_merged", { mergedIntoPersonId: d.personId });
      expect(await clerk.get_person({ personId })).toMatchObject({ mergedIntoPersonId: d.personId, active: false });
    }
    const [row] = await server.app.store.reader(server.businessId).find("applicants", {}, { limit: 1 });
    expect(row).toMatchObject({ applicantId, personId: d.personId });
  });

  test("an outdated version of either person is refused, and the error names the person", async ({ server }) => {
    const clerk = await server.as(surface);
    const { from, to } = await pairOf(server);
    await clerk.update_person({ personId: to.personId, version: 0, kinds: [] });
    const cases = [
      [
        { sourceVersion: 3, targetVersion: 1 },
        { currentVersion: 0, record: "source" },
      ],
      [
        { sourceVersion: 0, targetVersion: 0 },
        { currentVersion: 1, record: "target" },
      ],
    ] as const;
    for (const [versions, details] of cases) {
      const trace = await recordTrace(server, () => clerk.merge_person({ ...into(from, to), ...versions }));
      expect(trace).toMatchObject({ problem: { code: "version_conflict", details }, ...nothing });
    }
    await clerk.merge_person({ ...into(from, to), targetVersion: 1 });
  });

  test("a merge into the same person, with an unknown field or beyond a person's limits is refused", async ({
    server,
  }) => {
    const clerk = await server.as(surface);
    const { from, to } = await pairOf(server);
    const many = (letter: string) => Array.from({ length: 300 }, (_, index) => ref(`${letter}${index}`));
    const [full, fuller] = [
      await server.seed.person({ externalRefs: many("a") }),
      await server.seed.person({ externalRefs: many("b") }),
    ];
    const text = "x".repeat(200_000);
    const [large, larger] = [
      await server.seed.person({ metadata: { a: text } }),
      await server.seed.person({ metadata: { b: text } }),
    ];
    const refused = [
      [into(from, from), "targetPersonId"],
      [into(from, to, { preferSourceCustomFieldIds: [standard, "fld_none"] }), "preferSourceCustomFieldIds.1"],
      [into(from, to, { preferSourceCustomFieldIds: [""] }), "preferSourceCustomFieldIds.0"],
      [into(full, fuller), "targetPersonId"],
      [into(large, larger), "targetPersonId"],
      [into(from, to, { version: 0 }), "version"],
    ] as const;
    for (const [input, path] of refused) {
      const trace = await recordTrace(server, () => clerk.merge_person(input));
      expect(trace, path).toMatchObject({ problem: { code: "validation_failed" }, ...nothing });
      expect(trace.problem?.details["issues"]).toMatchObject([{ path }]);
    }
  });

  test("of two concurrent merges of one source only one succeeds", async ({ server }) => {
    const clerk = await server.as(surface);
    const { from, to } = await pairOf(server);
    const third = await server.seed.person();
    const results = await Promise.allSettled([
      clerk.merge_person(into(from, to)),
      clerk.merge_person(into(from, third)),
      clerk.merge_person(into(to, from)),
    ]);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason.code).toMatch(/person_merged|version_conflict/);
    }
  });
});
