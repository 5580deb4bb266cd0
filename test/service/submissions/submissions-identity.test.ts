import { describe, expect } from "vitest";
import type { Row } from "../../../src/store/tables.ts";
import { surfaces, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

const deadline = "2026-12-31T00:00:00.000Z";
const ada = { innovatorId: "crm-17", innovatorEmail: "Ada@example.org", innovatorName: "Ada Marsh" };
const ref = { namespace: "crm", objectType: "contact", externalId: "0031" };

async function intakeOf(server: TestServer) {
  return { base: { trackId: (await server.seed.track()).trackId, deadline, fields: {} } };
}

async function applicantsOf(server: TestServer): Promise<Row<"applicants">[]> {
  return server.app.store.reader(server.businessId).find("applicants", {}, { limit: 100 });
}

describe.each(surfaces)("applicants and persons with the same address over %s", (surface) => {
  test("an address has one applicant, and another innovatorId for it is refused", async ({ server }) => {
    const chair = await server.as(surface);
    const { base } = await intakeOf(server);
    await chair.create_submission({ ...base, ...ada });
    await chair.create_submission({ ...base, innovatorId: "crm-18", innovatorEmail: "ben@example.org" });
    const clashes: readonly [object, string][] = [
      [{ innovatorId: "crm-99", innovatorEmail: "ADA@example.org" }, "innovatorId"],
      [{ innovatorId: "crm-18", innovatorEmail: "ada@example.org" }, "innovatorId"],
      [{ innovatorId: "crm-18", innovatorEmail: "new@example.org" }, "innovatorEmail"],
    ];
    for (const [given, mismatched] of clashes) {
      expect(await recordTrace(server, () => chair.create_submission({ ...base, ...given }))).toMatchObject({
        problem: { code: "identity_mismatch", details: { mismatched: [mismatched] } },
        ...nothing,
      });
    }
  });

  test("a person takes over the applicant who applied earlier with the same address, with its old id", async ({
    server,
  }) => {
    const chair = await server.as(surface);
    const { base } = await intakeOf(server);
    const { applicantId } = await chair.create_submission({ ...base, ...ada });
    const { personId } = await server.seed.person({ primaryEmail: "ada@example.org", platformUserId: "usr-9" });
    const selected = { innovatorId: "crm-17", applicantId, applicantPersonId: personId };
    expect(await chair.create_submission({ ...base, personId })).toMatchObject(selected);
    for (const innovatorId of ["crm-17", "usr-9"]) {
      expect(await chair.create_submission({ ...base, personId, innovatorId })).toMatchObject(selected);
    }
    expect(await applicantsOf(server)).toMatchObject([
      { applicantId, personId, name: "Grace Lindqvist", email: "ada@example.org", innovatorId: "crm-17" },
    ]);
    const legacy = await chair.create_submission({ ...base, innovatorId: "crm-17" });
    expect(legacy).toMatchObject({ applicantId, innovatorName: "Grace Lindqvist" });
  });

  test("two persons with one address share its applicant, which stays linked to the first", async ({ server }) => {
    const chair = await server.as(surface);
    const { base } = await intakeOf(server);
    const first = await server.seed.person({ platformUserId: "usr-1" });
    const second = await server.seed.person({ platformUserId: "usr-2", contactDetails: { firstName: "Hal" } });
    const { applicantId } = await chair.create_submission({ ...base, personId: first.personId });
    const trace = await recordTrace(server, () => chair.create_submission({ ...base, personId: second.personId }));
    expect(trace).toMatchObject({
      data: { applicantId, applicantPersonId: second.personId, innovatorId: "usr-2", innovatorName: "Hal" },
      rows: ["submissions inserted"],
    });
    expect(await applicantsOf(server)).toMatchObject([{ personId: first.personId, name: "Grace Lindqvist" }]);
  });

  test("a person whose new address belongs to another applicant keeps the old applicant", async ({ server }) => {
    const chair = await server.as(surface);
    const { base } = await intakeOf(server);
    const person = await server.seed.person();
    const { personId } = person;
    const { applicantId } = await chair.create_submission({ ...base, personId });
    await chair.create_submission({ ...base, ...ada });
    await chair.update_person({ personId, version: person.version, primaryEmail: "ada@example.org" });
    expect(await chair.create_submission({ ...base, personId })).toMatchObject({
      applicantId,
      innovatorEmail: "ada@example.org",
    });
    expect(await applicantsOf(server)).toMatchObject([
      { applicantId, personId, email: "grace@example.org" },
      { innovatorId: "crm-17", personId: null, email: "Ada@example.org", name: "Ada Marsh" },
    ]);
    await chair.update_person({ personId, version: person.version + 1, primaryEmail: "free@example.org" });
    await chair.create_submission({ ...base, personId });
    expect((await applicantsOf(server))[0]).toMatchObject({ applicantId, email: "free@example.org" });
  });

  test("after a merge the target's own applicant is used", async ({ server }) => {
    const chair = await server.as(surface);
    const { base } = await intakeOf(server);
    const source = await server.seed.person({ primaryEmail: "old@example.org" });
    await chair.create_submission({ ...base, personId: source.personId });
    const target = await server.seed.person();
    const { applicantId } = await chair.create_submission({ ...base, personId: target.personId });
    const merge = { personId: source.personId, targetPersonId: target.personId, sourceVersion: 0, targetVersion: 0 };
    await chair.merge_person(merge);
    const trace = await recordTrace(server, () => chair.create_submission({ ...base, personId: target.personId }));
    expect(trace).toMatchObject({ data: { applicantId }, rows: ["submissions inserted"] });
  });

  test("concurrent applications of one person create one applicant", async ({ server }) => {
    const chair = await server.as(surface);
    const { base } = await intakeOf(server);
    const { personId } = await server.seed.person({ primaryEmail: "ada@example.org" });
    const ways = [
      { innovatorEmail: "ada@example.org" },
      { personId },
      { innovatorEmail: "ADA@example.org" },
      { personId },
    ];
    const created = await Promise.all(ways.map((way) => chair.create_submission({ ...base, ...way })));
    const applicants = await applicantsOf(server);
    expect(applicants).toMatchObject([{ personId }]);
    expect(new Set(created.map(({ applicantId }) => applicantId))).toEqual(new Set([applicants[0]?.applicantId]));
  });
});

describe.each(surfaces)("selecting a person over %s", (surface) => {
  test("finds only active persons of this tenant", async ({ server }) => {
    const chair = await server.as(surface);
    const { base } = await intakeOf(server);
    const { personId: foreign } = await (await server.other()).seed.person({ externalRefs: [ref] });
    const person = await server.seed.person();
    const merged = await server.seed.person({ active: false, mergedIntoPersonId: person.personId });
    const inactive = await server.seed.person({ active: false, externalRefs: [{ ...ref, externalId: "off" }] });
    const anonymous = await server.seed.person({ anonymizedAt: deadline });
    const { primaryEmail: _, ...unaddressed } = person;
    const mute = await server.seed.insert("persons", { ...unaddressed, personId: "per_mute" });
    const refusals: readonly [object, string, object][] = [
      [{ personId: "per_none" }, "not_found", {}],
      [{ personId: foreign }, "not_found", {}],
      [{ externalRef: ref }, "not_found", {}],
      [{ personId: merged.personId }, "person_merged", { mergedIntoPersonId: person.personId }],
      [{ personId: inactive.personId }, "person_inactive", { personId: inactive.personId }],
      [{ externalRef: { ...ref, externalId: "off" } }, "person_inactive", { personId: inactive.personId }],
      [{ personId: anonymous.personId }, "person_inactive", { personId: anonymous.personId }],
      [{ personId: mute.personId }, "validation_failed", { issues: [{ path: "personId" }] }],
    ];
    for (const [given, code, details] of refusals) {
      const trace = await recordTrace(server, () => chair.create_submission({ ...base, ...given }));
      expect(trace, JSON.stringify(given)).toMatchObject({ problem: { code, details }, ...nothing });
    }
  });

  test("needs a legacy identity beside the selector to be the person's own", async ({ server }) => {
    const chair = await server.as(surface);
    const { base } = await intakeOf(server);
    const { personId } = await server.seed.person();
    const wrong = { innovatorId: "crm-1", innovatorEmail: "ada@example.org", innovatorName: "Ada" };
    for (const given of [wrong, ...Object.entries(wrong).map(([name, value]) => ({ [name]: value }))]) {
      expect(await recordTrace(server, () => chair.create_submission({ ...base, personId, ...given }))).toMatchObject({
        problem: { code: "identity_mismatch", details: { mismatched: Object.keys(given) } },
        ...nothing,
      });
    }
  });

  test("needs persons:read, unless a legacy identity is given", async ({ server }) => {
    const clerk = await server.as(surface, ["submissions:write"]);
    const { base } = await intakeOf(server);
    const { personId } = await server.seed.person({ externalRefs: [ref] });
    for (const selector of [{ personId }, { externalRef: ref }, { personId: "per_none" }]) {
      expect(await recordTrace(server, () => clerk.create_submission({ ...base, ...ada, ...selector }))).toMatchObject({
        problem: { code: "insufficient_scope", details: { requiredScopes: ["persons:read"] } },
        ...nothing,
      });
    }
    await clerk.create_submission({ ...base, ...ada });
  });
});
