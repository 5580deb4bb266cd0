import { describe, expect } from "vitest";
import type { Row } from "../../../src/store/tables.ts";
import { fieldIds } from "../../support/data/seed-factory.ts";
import { surfaces, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

const deadline = "2026-12-31T00:00:00.000Z";
const ada = { innovatorId: "crm-17", innovatorEmail: "Ada@example.org", innovatorName: "Ada Marsh" };
const ref = { namespace: "crm", objectType: "contact", externalId: "0031" };
const enrolled = ["applicants inserted", "submissions inserted"];

async function intakeOf(server: TestServer, given: Parameters<TestServer["seed"]["track"]>[0] = {}) {
  const { trackId, programId } = await server.seed.track(given);
  return { trackId, programId, base: { trackId, deadline, fields: {} } };
}

async function applicantsOf(server: TestServer): Promise<Row<"applicants">[]> {
  return server.app.store.reader(server.businessId).find("applicants", {}, { limit: 100 });
}

describe.each(surfaces)("creating a submission over %s", (surface) => {
  test("a legacy identity creates a draft with the track's form, an applicant and one event", async ({ server }) => {
    const chair = await server.as(surface, ["submissions:write", "submissions:read"]);
    await server.other();
    const schema = await server.seed.schema({ schemaVersion: 3 });
    const home = await intakeOf(server, { schemaId: schema.schemaId, schemaVersion: 3 });
    const given = { ...home.base, ...ada, fields: { [fieldIds.title]: "Water", [fieldIds.budget]: null } };
    const trace = await recordTrace(server, () =>
      chair.create_submission({ ...given, deadline: "2026-12-31T01:00:00+01:00" }),
    );
    expect(trace.data).toEqual({
      ...ada,
      submissionId: expect.stringMatching(/^sub_/),
      programId: home.programId,
      trackId: home.trackId,
      schemaId: schema.schemaId,
      schemaVersion: 3,
      fields: { [fieldIds.title]: "Water" },
      title: "Water",
      deadline,
      state: "DRAFT",
      source: "integration",
      applicantId: expect.stringMatching(/^app_/),
      businessId: server.businessId,
      version: 0,
      createdAt: server.clock.now().toISOString(),
      updatedAt: server.clock.now().toISOString(),
      createdBy: trace.data.createdBy,
      updatedBy: trace.data.createdBy,
      fileIds: [],
      ...Object.fromEntries(unset.map((name) => [name, null])),
    });
    const { submissionId, applicantId, createdBy } = trace.data;
    expect(createdBy).toMatch(/^tok_/);
    expect(trace).toMatchObject({ rows: enrolled, audit: ["applicant.created", "submission.created"] });
    expect(trace.events).toEqual([
      {
        eventType: "submission.draft_created",
        eventId: expect.stringMatching(/^evt_/),
        timestamp: server.clock.now().toISOString(),
        data: {
          businessId: server.businessId,
          programId: home.programId,
          trackId: home.trackId,
          submissionId,
          roundId: null,
          version: 0,
          source: "integration",
        },
      },
    ]);
    expect(await applicantsOf(server)).toMatchObject([
      {
        applicantId,
        innovatorId: "crm-17",
        email: "Ada@example.org",
        name: "Ada Marsh",
        programIds: [home.programId],
        trackIds: [home.trackId],
        personId: null,
        registeredAt: server.clock.now().toISOString(),
      },
    ]);
    expect(await chair.get_submission({ submissionId })).toEqual(trace.data);
  });

  test("one applicant can apply several times, to several tracks, under different names", async ({ server }) => {
    const chair = await server.as(surface);
    const [first, second] = [await intakeOf(server), await intakeOf(server)];
    const { applicantId } = await chair.create_submission({ ...first.base, ...ada });
    const again: readonly [object, object][] = [
      [{ innovatorId: "crm-17" }, ada],
      [{ innovatorEmail: "ADA@EXAMPLE.ORG" }, { ...ada, innovatorEmail: "ADA@EXAMPLE.ORG" }],
      [
        { innovatorId: "crm-17", innovatorEmail: "ada@example.org", innovatorName: "A. Marsh" },
        { ...ada, innovatorEmail: "ada@example.org", innovatorName: "A. Marsh" },
      ],
    ];
    for (const [given, shown] of again) {
      expect(await chair.create_submission({ ...second.base, ...given })).toMatchObject({ ...shown, applicantId });
    }
    expect(await applicantsOf(server)).toMatchObject([
      {
        applicantId,
        email: "Ada@example.org",
        name: "Ada Marsh",
        programIds: [first.programId, second.programId],
        trackIds: [first.trackId, second.trackId],
        version: 1,
      },
    ]);
    const unnamed = await chair.create_submission({ ...second.base, innovatorEmail: "ben.o@example.org" });
    expect(unnamed).toMatchObject({ innovatorName: "", innovatorId: expect.stringMatching(/^inn_/) });
    expect(unnamed.applicantId).not.toBe(applicantId);
    const named = { innovatorEmail: "ben.o@example.org", innovatorName: "Ben Okri" };
    expect(await chair.create_submission({ ...second.base, ...named })).toMatchObject(named);
    expect(await applicantsOf(server)).toMatchObject([{ applicantId }, { name: "Ben Okri" }]);
  });

  test("a legacy applicant is linked to the active person with the address, unless there are several", async ({
    server,
  }) => {
    const chair = await server.as(surface);
    const { base } = await intakeOf(server);
    const one = await server.seed.person({ primaryEmail: "One@example.org" });
    await server.seed.person({ primaryEmail: "one@example.org", active: false });
    for (const primaryEmail of ["two@example.org", "TWO@example.org"]) await server.seed.person({ primaryEmail });
    await server.seed.person({ primaryEmail: "gone@example.org", anonymizedAt: deadline });
    const linked = { "one@example.org": one.personId, "two@example.org": null, "gone@example.org": null };
    for (const innovatorEmail of Object.keys(linked)) {
      expect(await chair.create_submission({ ...base, innovatorEmail })).toMatchObject({ applicantPersonId: null });
    }
    const links = (await applicantsOf(server)).map(({ email, personId }) => [email, personId]);
    expect(Object.fromEntries(links)).toEqual(linked);
  });

  test("a person selected by id or external reference supplies the applicant's details", async ({ server }) => {
    const chair = await server.as(surface, ["submissions:write", "persons:read"]);
    const { base } = await intakeOf(server);
    const { personId } = await server.seed.person({ externalRefs: [ref], platformUserId: "usr-9" });
    const grace = {
      innovatorId: "usr-9",
      innovatorEmail: "grace@example.org",
      innovatorName: "Grace Lindqvist",
      applicantPersonId: personId,
    };
    const selections: readonly object[] = [
      { personId },
      { externalRef: ref },
      { personId, innovatorEmail: "GRACE@example.org" },
      { externalRef: ref, innovatorId: "usr-9", innovatorName: " Grace Lindqvist " },
    ];
    for (const [index, selection] of selections.entries()) {
      const trace = await recordTrace(server, () => chair.create_submission({ ...base, ...selection }));
      expect(trace.data).toMatchObject(grace);
      expect(trace.rows).toEqual(index === 0 ? enrolled : ["submissions inserted"]);
    }
    const { innovatorId, innovatorEmail: email, innovatorName: name } = grace;
    expect(await applicantsOf(server)).toMatchObject([{ innovatorId, email, name, personId, version: 0 }]);
  });

  test("a person without a name or platform user is identified by id, and named by the caller", async ({ server }) => {
    const chair = await server.as(surface);
    const { base } = await intakeOf(server);
    const { personId } = await server.seed.person({ contactDetails: { phone: "1" } });
    const nameless = { innovatorId: personId, innovatorName: "" };
    expect(await chair.create_submission({ ...base, personId })).toMatchObject(nameless);
    const named = { personId, innovatorName: "Grace Lindqvist" };
    expect(await chair.create_submission({ ...base, ...named })).toMatchObject({ innovatorName: "Grace Lindqvist" });
    expect(await chair.create_submission({ ...base, personId })).toMatchObject({ innovatorName: "Grace Lindqvist" });
  });
});

const unset = [
  "currentRoundId",
  "applicantPersonId",
  "eligible",
  "stateReason",
  "previousState",
  "submittedAt",
  "screenedAt",
  "withdrawnAt",
  "decidedAt",
  "paymentStatus",
];

describe.each(surfaces)("refused submissions over %s", (surface) => {
  test("the applicant must be given, by one selector at most", async ({ server }) => {
    const chair = await server.as(surface);
    const { base } = await intakeOf(server);
    const { personId } = await server.seed.person({ externalRefs: [ref] });
    const refusals: readonly [object, readonly string[]][] = [
      [{}, ["personId", "externalRef", "innovatorId", "innovatorEmail"]],
      [{ innovatorName: "Ada" }, ["personId", "externalRef", "innovatorId", "innovatorEmail"]],
      [{ personId, externalRef: ref }, ["personId", "externalRef"]],
      [{ innovatorId: "crm-unknown" }, ["innovatorEmail"]],
      [{ innovatorId: "" }, ["innovatorId"]],
      [{ innovatorEmail: "ada" }, ["innovatorEmail"]],
      [{ ...ada, innovatorName: "" }, ["innovatorName"]],
      [{ ...ada, innovatorName: "N".repeat(201) }, ["innovatorName"]],
      [{ externalRef: { ...ref, source: "x" } }, ["externalRef.source"]],
      [{ externalRef: { namespace: "crm", objectType: "" } }, ["externalRef.objectType", "externalRef.externalId"]],
      [{ ...ada, deadline: "2026-12-31" }, ["deadline"]],
      [{ ...ada, deadline: undefined }, ["deadline"]],
      [{ ...ada, fields: undefined }, ["fields"]],
      [{ ...ada, fields: [] }, ["fields"]],
      [{ ...ada, state: "SUBMITTED" }, ["state"]],
    ];
    for (const [given, paths] of refusals) {
      const trace = await recordTrace(server, () => chair.create_submission({ ...base, ...given }));
      expect(trace, JSON.stringify(given)).toMatchObject({ problem: { code: "validation_failed" }, ...nothing });
      const issues = trace.problem?.details["issues"] as { path: string }[];
      expect(issues.map((issue) => issue.path).sort()).toEqual([...paths].sort());
    }
  });

  test("fields must belong to the form, and each invalid one is reported with its path", async ({ server }) => {
    const chair = await server.as(surface);
    const { base } = await intakeOf(server);
    const { fileId } = await server.seed.file();
    const fields = {
      [fieldIds.title]: "T".repeat(101),
      [fieldIds.domain]: "sports",
      [fieldIds.budget]: -1,
      fld_none: "x",
      fld_cleared: null,
    };
    const trace = await recordTrace(server, () => chair.create_submission({ ...base, ...ada, fields }));
    expect(trace).toMatchObject({ problem: { code: "validation_failed" }, ...nothing });
    expect(trace.problem?.details["issues"]).toMatchObject([
      { path: `fields.${fieldIds.title}`, code: "too_big" },
      { path: `fields.${fieldIds.domain}`, code: "invalid_value" },
      { path: `fields.${fieldIds.budget}`, code: "too_small" },
      { path: "fields.fld_none", code: "unrecognized_keys" },
      { path: "fields.fld_cleared", code: "unrecognized_keys" },
    ]);
    expect(JSON.stringify(trace.problem)).not.toContain("sports");
    const annexed = { ...base, ...ada, fields: { [fieldIds.annex]: fileId } };
    expect(await recordTrace(server, () => chair.create_submission(annexed))).toMatchObject({
      problem: { code: "validation_failed", details: { issues: [{ path: `fields.${fieldIds.annex}` }] } },
      ...nothing,
    });
  });

  test("an unknown track and another tenant's track are not found", async ({ server }) => {
    const chair = await server.as(surface);
    const { base } = await intakeOf(await server.other());
    for (const trackId of [base.trackId, "trk_none"]) {
      expect(await recordTrace(server, () => chair.create_submission({ ...base, ...ada, trackId }))).toMatchObject({
        problem: { code: "not_found" },
        ...nothing,
      });
    }
  });
});
