import { describe, expect } from "vitest";
import type { Row } from "../../../src/store/tables.ts";
import { fieldIds } from "../../support/data/seed-factory.ts";
import { surfaces, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

const past = "2026-11-20T08:59:59.999Z";
const present = "2026-11-20T09:00:00.000Z";
const future = "2026-11-20T09:00:00.001Z";
const { title, domain, budget, annex } = fieldIds;

interface Given {
  readonly submission?: Partial<Row<"submissions">>;
  readonly track?: Partial<Row<"tracks">>;
  readonly program?: Partial<Row<"programs">>;
  /** Status of a required supplement. */
  readonly supplement?: Row<"supplements">["status"];
}

const fee = { program: { feeRequired: true, currency: "EUR" }, track: { feeAmountMinor: 2500 } };

async function draft({ seed }: TestServer, given: Given = {}): Promise<Row<"submissions">> {
  const { programId } = await seed.program(given.program);
  const { trackId, schemaId } = await seed.track({ programId, ...given.track });
  const submission = await seed.submission({ trackId, ...given.submission });
  const { submissionId } = submission;
  if (given.supplement) await seed.supplement({ submissionId, schemaId, status: given.supplement });
  // An optional supplement, or one of another submission, does not prevent submitting.
  await seed.supplement({ submissionId, schemaId, required: false });
  await seed.supplement({ submissionId: (await seed.submission({ trackId })).submissionId, schemaId });
  return submission;
}

describe.each(surfaces)("submitting over %s", (surface) => {
  const ready: readonly [string, Given][] = [
    ["with all that is required", {}],
    ["on the deadline", { submission: { deadline: present } }],
    ["when intake opens", { track: { intakeOpenDate: present } }],
    ["when intake closes", { track: { intakeCloseDate: present } }],
    ["with the fee paid", { ...fee, submission: { paymentStatus: "succeeded" } }],
    ["with the fee waived", { ...fee, submission: { paymentStatus: "waived" } }],
    ["to a track without an amount", { ...fee, track: { feeAmountMinor: null } }],
    ["to a programme without a fee", { track: fee.track }],
    ["with the supplement submitted", { supplement: "submitted" }],
    ["with the supplement closed", { supplement: "closed" }],
  ];

  test("succeeds with all required values until the deadline", async ({ server }) => {
    const chair = await server.as(surface);
    for (const [name, given] of ready) {
      const { submissionId, version, programId, trackId } = await draft(server, given);
      const trace = await recordTrace(server, () => chair.submit_submission({ submissionId, version }));
      expect(trace, name).toMatchObject({
        data: { state: "SUBMITTED", submittedAt: present, previousState: "DRAFT", stateReason: null, version: 1 },
        rows: ["submissions updated: previousState state submittedAt"],
        audit: ["submission.submitted"],
      });
      const ids = { businessId: server.businessId, programId, trackId, submissionId, roundId: null, version: 1 };
      const change = { fromState: "DRAFT", toState: "SUBMITTED", operation: "submit", actorType: "token" };
      const payloads = trace.events.map(({ eventType, data }) => [eventType, data]);
      expect(payloads, name).toEqual([
        ["submission.state_changed", { ...ids, ...change }],
        ["submission.submitted", { ...ids, submittedAt: present }],
      ]);
    }
  });

  // Each case has the faults of all cases below it. The first fault is reported.
  const faults: readonly [code: string, details: object, given: Given][] = [
    ["program_archived", {}, { program: { lifecycleStatus: "archived" } }],
    ["invalid_state_transition", { from: "WITHDRAWN", allowedFrom: ["DRAFT"] }, { submission: { state: "WITHDRAWN" } }],
    ["deadline_passed", { deadline: past }, { submission: { deadline: past } }],
    ["intake_closed", { intakeOpen: false }, { track: { intakeOpen: false } }],
    ["intake_closed", { intakeOpenDate: future }, { track: { intakeOpenDate: future } }],
    ["intake_closed", { intakeCloseDate: past }, { track: { intakeCloseDate: past } }],
    ["incomplete_application", { missing: [title, "payment"] }, { ...fee, submission: { fields: {} } }],
    ["supplement_warnings", {}, { supplement: "draft" }],
  ];

  test("is refused with the first error, in the order of the rules", async ({ server }) => {
    const chair = await server.as(surface);
    for (const [index, [code, details]] of faults.entries()) {
      const given = faults.slice(index).reduceRight<Given>((below, [, , own]) => joined(below, own), {});
      const { submissionId, version } = await draft(server, given);
      const trace = await recordTrace(server, () => chair.submit_submission({ submissionId, version }));
      expect(trace, code).toMatchObject({ problem: { code, details }, ...nothing });
      const stale = chair.submit_submission({ submissionId, version: version + 1 });
      await expect(stale).rejects.toMatchProblem("version_conflict", { currentVersion: version });
    }
  });

  const unpaid = ["pending", "failed", "refunded", null] as const;

  test("is refused while a fee is owed, and names the fee as missing", async ({ server }) => {
    const chair = await server.as(surface);
    for (const paymentStatus of unpaid) {
      const { submissionId, version } = await draft(server, { ...fee, submission: { paymentStatus } });
      expect(await recordTrace(server, () => chair.submit_submission({ submissionId, version }))).toMatchObject({
        problem: { code: "incomplete_application", details: { missing: ["payment"] } },
        ...nothing,
      });
    }
  });

  test("is refused for blank required fields and values that are no longer valid, and names them", async ({
    server,
  }) => {
    const chair = await server.as(surface);
    const cases: readonly [object, object][] = [
      [{}, { missing: [title] }],
      [{ [title]: "  " }, { missing: [title] }],
      [
        { [title]: "Water", [budget]: -3 },
        { missing: [], issues: [{ path: `fields.${budget}`, code: "too_small" }] },
      ],
      [{ [domain]: "sports" }, { missing: [title], issues: [{ path: `fields.${domain}` }] }],
    ];
    for (const [fields, details] of cases) {
      const { submissionId, version } = await draft(server, {
        submission: { fields: fields as Row<"submissions">["fields"] },
      });
      expect(await recordTrace(server, () => chair.submit_submission({ submissionId, version }))).toMatchObject({
        problem: { code: "incomplete_application", details },
        ...nothing,
      });
    }
  });

  test("is refused with the labels of what is missing", async ({ server }) => {
    const { submissionId, version } = await draft(server, { ...fee, submission: { fields: {} } });
    const submitting = (await server.as(surface)).submit_submission({ submissionId, version });
    await expect(submitting).rejects.toThrow(`Missing: “title” (${title}), payment.`);
  });

  test("validates against the version of the form with which the submission was created", async ({ server }) => {
    const chair = await server.as(surface);
    const { submissionId, schemaId } = await draft(server);
    const stricter = { fieldId: "fld_new", key: "new", label: "New", type: "text", required: true } as const;
    const fields = [{ ...stricter, sensitivity: "standard" as const, archived: false, order: 0 }];
    await server.seed.schema({ schemaId, schemaVersion: 2, fields });
    const changed = { submissionId, version: 0, fields: { fld_new: "x" } };
    await expect(chair.update_submission_fields(changed)).rejects.toMatchProblem("validation_failed");
    expect(await chair.submit_submission({ submissionId, version: 0 })).toMatchObject({ state: "SUBMITTED" });
  });

  test("warns of missing supplements until the caller acknowledges them", async ({ server }) => {
    const chair = await server.as(surface);
    for (const supplement of ["not_started", "draft"] as const) {
      const { submissionId, version } = await draft(server, { supplement });
      const rows = await chair.list_submission_supplements({ submissionId });
      const required = rows.filter((row: Row<"supplements">) => row.required);
      const supplements = required.map((row: Row<"supplements">) => row.supplementResponseId);
      for (const acknowledgeSupplementWarnings of [undefined, false]) {
        const call = () => chair.submit_submission({ submissionId, version, acknowledgeSupplementWarnings });
        expect(await recordTrace(server, call)).toMatchObject({
          problem: { code: "supplement_warnings", details: { supplements } },
          ...nothing,
        });
      }
      const knowing = { submissionId, version, acknowledgeSupplementWarnings: true };
      expect(await recordTrace(server, () => chair.submit_submission(knowing))).toMatchObject({
        data: { state: "SUBMITTED" },
        rows: ["submissions updated: previousState state submittedAt"],
      });
    }
  });

  test("accepts missing supplements with an acknowledgement, and nothing else", async ({ server }) => {
    const chair = await server.as(surface);
    const { submissionId, version } = await draft(server, { ...fee, supplement: "draft" });
    const call = chair.submit_submission({ submissionId, version, acknowledgeSupplementWarnings: true });
    await expect(call).rejects.toMatchProblem("incomplete_application");
  });
});

describe.each(surfaces)("editing a draft over %s", (surface) => {
  test("changes only the given fields, clears a field with null, and keeps the title equal to its field", async ({
    server,
  }) => {
    const chair = await server.as(surface);
    const { submissionId } = await draft(server, { submission: { fields: { [title]: "A", [domain]: "arts" } } });
    const edits = [chair.update_submission_fields, chair.update_submission] as const;
    for (const [index, edit] of edits.entries()) {
      const change = { [title]: `Water ${index}`, [budget]: 100 + index };
      const trace = await recordTrace(server, () => edit({ submissionId, version: index * 2, fields: change }));
      expect(trace.data.fields).toEqual({ ...change, [domain]: "arts" });
      expect(trace).toMatchObject({
        data: { title: `Water ${index}`, state: "DRAFT", version: index * 2 + 1 },
        rows: ["submissions updated: fields title"],
        events: [],
      });
      const cleared = await edit({ submissionId, version: index * 2 + 1, fields: { [budget]: null } });
      expect(cleared.fields).toEqual({ [title]: `Water ${index}`, [domain]: "arts" });
    }
    const untitled = await chair.update_submission_fields({ submissionId, version: 4, fields: { [title]: null } });
    expect(untitled).toMatchObject({ title: null, fields: { [domain]: "arts" } });
  });

  test("without an effect keeps the version and writes no entry", async ({ server }) => {
    const chair = await server.as(surface);
    const { submissionId } = await draft(server, { submission: { deadline: "2026-12-31T00:00:00.000Z" } });
    const same: readonly object[] = [
      {},
      { fields: {} },
      { fields: { [title]: "A light roof" } },
      { fields: { [budget]: null } },
      { deadline: "2026-12-31T02:00:00+02:00" },
      { state: "DRAFT", reason: "Still one" },
    ];
    for (const change of same) {
      const trace = await recordTrace(server, () => chair.update_submission({ submissionId, version: 0, ...change }));
      expect(trace, JSON.stringify(change)).toMatchObject({ data: { version: 0 }, ...nothing });
    }
    const extended = { submissionId, version: 0, deadline: "2027-01-31T00:00:00Z" };
    expect(await recordTrace(server, () => chair.update_submission(extended))).toMatchObject({
      data: { deadline: "2027-01-31T00:00:00.000Z", version: 1 },
      rows: ["submissions updated: deadline"],
      events: [],
      audit: ["submission.updated"],
    });
  });

  test("is refused as a whole for one invalid field, by either operation", async ({ server }) => {
    const chair = await server.as(surface);
    const { submissionId } = await draft(server);
    const other = await server.seed.submission();
    const { fileId } = await server.seed.file({ submissionId: other.submissionId });
    const wrong: readonly [string, unknown][] = [
      [title, 7],
      [domain, ["arts"]],
      [budget, "100"],
      [annex, "fil_none"],
      [annex, fileId],
      ["fld_none", "x"],
      ["fld_none", null],
      ["constructor", "x"],
    ];
    for (const edit of [chair.update_submission_fields, chair.update_submission]) {
      for (const [fieldId, value] of wrong) {
        const fields = { [title]: "Changed", [fieldId]: value };
        const trace = await recordTrace(server, () => edit({ submissionId, version: 0, fields }));
        const issues = [{ path: `fields.${fieldId}` }];
        expect(trace, fieldId).toMatchObject({
          problem: { code: "validation_failed", details: { issues } },
          ...nothing,
        });
      }
    }
    const own = await server.seed.file({ submissionId });
    const annexed = { submissionId, version: 0, fields: { [annex]: own.fileId } };
    expect((await chair.update_submission_fields(annexed)).fields[annex]).toBe(own.fileId);
  });

  test("can clear a field that the form no longer has", async ({ server }) => {
    const chair = await server.as(surface);
    const { submissionId } = await draft(server, { submission: { fields: { [title]: "A", fld_dropped: "kept" } } });
    const cleared = { submissionId, version: 0, fields: { fld_dropped: null } };
    expect((await chair.update_submission_fields(cleared)).fields).toEqual({ [title]: "A" });
  });
});

/** Combines the faults of the cases below with the case's own. */
function joined(below: Given, own: Given): Given {
  return {
    ...below,
    ...own,
    program: { ...below.program, ...own.program },
    track: { ...below.track, ...own.track },
    submission: { ...below.submission, ...own.submission },
  };
}
