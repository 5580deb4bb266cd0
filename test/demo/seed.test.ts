import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Token } from "../../src/contract/access/tokens.ts";
import { AssignmentStatus } from "../../src/contract/assignments.ts";
import { AuditEntry } from "../../src/contract/audit.ts";
import { Email } from "../../src/contract/definition/fields.ts";
import { EmailSend } from "../../src/contract/emails.ts";
import { File } from "../../src/contract/files.ts";
import { PaymentStatus } from "../../src/contract/payments.ts";
import { ReviewerStatus } from "../../src/contract/reviewers.ts";
import { PersonFieldType } from "../../src/contract/schemas.ts";
import { SubmissionState } from "../../src/contract/submissions.ts";
import { SupplementStatus } from "../../src/contract/supplements.ts";
import { checkValues, listMissingRequired } from "../../src/domain/fields.ts";
import { getTitle } from "../../src/domain/submissions.ts";
import { type TableName, tables } from "../../src/store/tables.ts";
import { formOf, idsOf, now, openSeeded, type Seeded, type Tenant, tableNames, valuesOf } from "./seeded.ts";

let demo: Seeded;
let main: Tenant;
let other: Tenant;

beforeAll(async () => {
  demo = await openSeeded();
  [main, other] = demo.tenants;
});

afterAll(() => demo.close());

/** A tenant without the links of its invitations, which are random. */
function withoutSecrets({ rows, ...tenant }: Tenant) {
  return { ...tenant, rows: { ...rows, invitations: rows.invitations.map((row) => ({ ...row, sha256: "" })) } };
}

describe("determinism", () => {
  test("the same seed and time give the same records, and another seed gives other records", async () => {
    const [again, differently] = [await openSeeded(), await openSeeded({ seed: 7 })];
    const { tenants } = again;
    await Promise.all([again.close(), differently.close()]);
    expect(tenants.map(withoutSecrets)).toEqual(demo.tenants.map(withoutSecrets));
    for (const table of ["submissions", "persons", "reviews"] as const) {
      const ids = idsOf(main.rows, table);
      const others = idsOf(differently.tenants[0].rows, table);
      expect(others.size).toBeGreaterThan(0);
      expect([...others].filter((id) => ids.has(id))).toEqual([]);
    }
  });

  test("two databases never have the same invitation links", async () => {
    const again = await openSeeded();
    await again.close();
    const listSecrets = ({ tenants }: Seeded) =>
      tenants.flatMap(({ rows }) => rows.invitations.map((row) => row.sha256));
    const secrets = [...listSecrets(demo), ...listSecrets(again)];
    expect(secrets.length).toBeGreaterThan(20);
    expect(new Set(secrets).size).toBe(secrets.length);
  });

  test("the scale multiplies this year's submissions and nothing else", async () => {
    const larger = await openSeeded({ scale: 3 });
    await larger.close();
    const [largeMain, largeOther] = larger.tenants;
    const count = ({ rows }: Tenant, year: number) => {
      const program = rows.programs.find((row) => row.year === year);
      return rows.submissions.filter((row) => row.programId === program?.programId).length;
    };
    const year = now.getUTCFullYear();
    expect(count(main, year)).toBe(60);
    expect(count(largeMain, year)).toBe(180);
    expect(count(largeMain, year - 1)).toBe(count(main, year - 1));
    expect(largeOther.rows.submissions).toHaveLength(other.rows.submissions.length);
    expectReferences(largeMain);
  });
});

describe("shape", () => {
  test("every record fits its schema", () => {
    for (const { rows, audit, tokens } of demo.tenants) {
      for (const table of tableNames) {
        for (const row of rows[table]) expect(tables[table].record.strict().parse(row)).toEqual(row);
      }
      for (const entry of audit) AuditEntry.parse(entry);
      for (const token of tokens) Token.parse(token);
    }
  });

  test("times are in the past, in order, and not all the same", () => {
    for (const { rows, audit } of demo.tenants) {
      for (const table of tableNames) {
        for (const { createdAt, updatedAt, version } of rows[table]) {
          expect(createdAt <= updatedAt).toBe(true);
          expect(updatedAt < now.toISOString()).toBe(true);
          if (version === 0) expect(updatedAt).toBe(createdAt);
        }
      }
      for (const { occurredAt } of audit) expect(occurredAt < now.toISOString()).toBe(true);
    }
    expect(valuesOf(main.rows.submissions, "createdAt").size).toBeGreaterThan(30);
    expect(main.rows.submissions.filter(({ version }) => version > 0).length).toBeGreaterThan(50);
  });

  test("every state and status occurs", () => {
    const { rows, audit } = main;
    const all = (column: Set<unknown>, options: readonly unknown[]) => expect(column).toEqual(new Set(options));
    all(valuesOf(rows.submissions, "state"), SubmissionState.options);
    all(valuesOf(rows.submissions, "source"), ["portal", "integration"]);
    all(valuesOf(rows.payments, "status"), PaymentStatus.options);
    all(valuesOf(rows.supplements, "status"), SupplementStatus.options);
    all(valuesOf(rows.supplements, "required"), [true, false]);
    all(valuesOf(rows.assignments, "status"), AssignmentStatus.options);
    all(valuesOf(rows.assignments, "source"), ["bulk", "auto", "reassign"]);
    all(valuesOf(rows.reviews, "status"), ["draft", "submitted"]);
    all(valuesOf(rows.reviewers, "status"), ReviewerStatus.options);
    all(valuesOf(rows.reviewers, "role"), ["reviewer", "lead_reviewer"]);
    all(valuesOf(rows.files, "scanStatus"), File.shape.scanStatus.options);
    all(valuesOf(rows.emailSends, "status"), EmailSend.shape.status.options);
    all(valuesOf(rows.feedbacks, "released"), [true, false]);
    all(valuesOf(rows.programs, "lifecycleStatus"), ["underway", "completed", "draft"]);
    all(valuesOf(audit, "actorType"), AuditEntry.shape.actorType.options);
    all(new Set(rows.persons.flatMap(({ kinds }) => kinds)), ["applicant", "reviewer", "contact"]);
    expect(rows.supplements.some(({ reopenedAt }) => reopenedAt !== null)).toBe(true);
    expect(
      valuesOf(
        rows.submissions.filter(({ state }) => state === "IN_REVIEW"),
        "currentRoundId",
      ).size,
    ).toBeGreaterThan(2);
  });

  test("e-mail addresses use domains reserved for examples", () => {
    for (const { rows } of demo.tenants) {
      const addresses = [
        ...rows.persons.flatMap(({ primaryEmail }) => primaryEmail ?? []),
        ...rows.applicants.map(({ email }) => email),
        ...rows.reviewers.map(({ email }) => email),
        ...rows.submissions.map(({ innovatorEmail }) => innovatorEmail),
        ...rows.emailSends.map(({ recipientEmail }) => recipientEmail),
      ];
      for (const address of addresses) {
        expect(Email.safeParse(address).success).toBe(true);
        expect(address).toMatch(/^[a-z0-9.]+@example\.(org|com|net)$/i);
      }
    }
  });
});

/** Columns that hold ids, by table that they point to. */
const pointers: Readonly<Record<string, TableName>> = {
  ...Object.fromEntries(tableNames.map((table) => [tables[table].id, table])),
  currentRoundId: "rounds",
  applicantPersonId: "persons",
  mergedIntoPersonId: "persons",
  reassignedFromId: "assignments",
  fileIds: "files",
  programIds: "programs",
  trackIds: "tracks",
  roundIds: "rounds",
};

function expectReferences({ business, rows, audit, tokens }: Tenant): void {
  const known = Object.fromEntries(tableNames.map((table) => [table, idsOf(rows, table)])) as Record<
    TableName,
    Set<unknown>
  >;
  const expectKnown = (table: TableName, id: unknown, where: string) => {
    if (!known[table].has(id)) throw new Error(`${where}: no ${table} ${String(id)}`);
  };
  for (const table of tableNames) {
    for (const row of rows[table]) {
      expect(row.businessId).toBe(business.businessId);
      for (const [column, value] of Object.entries(row)) {
        const target = pointers[column];
        if (!target || value === null) continue;
        for (const id of [value].flat()) expectKnown(target, id, `${table}.${column}`);
      }
    }
  }
  for (const { schemaId, schemaVersion } of [...rows.tracks, ...rows.submissions])
    formOf(rows, schemaId, schemaVersion);
  const rubrics = new Set(rows.rubrics.map(({ rubricId, rubricVersion }) => `${rubricId} ${rubricVersion}`));
  for (const { rubricId, rubricVersion } of [...rows.rounds, ...rows.reviews]) {
    expect(rubrics).toContain(`${rubricId} ${rubricVersion}`);
  }
  const tableOf = new Map(tableNames.map((table) => [tables[table].entity, table]));
  const tokenIds = valuesOf(tokens, "tokenId");
  for (const { entityType, entityId, actorType, actorId, tokenId, programId, submissionId } of audit) {
    expectKnown(tableOf.get(entityType) as TableName, entityId, "audit.entityId");
    if (programId) expectKnown("programs", programId, "audit.programId");
    if (submissionId) expectKnown("submissions", submissionId, "audit.submissionId");
    if (actorType === "applicant" || actorType === "reviewer") expectKnown(`${actorType}s`, actorId, "audit.actorId");
    if (actorType === "token") expect(tokenIds).toContain(actorId);
    expect(tokenId).toBe(actorType === "token" ? actorId : null);
  }
}

describe("consistency", () => {
  test("every reference leads to a record of the same organisation", () => {
    for (const tenant of demo.tenants) expectReferences(tenant);
  });

  test("no organisation sees records of another", async () => {
    const reader = demo.store.reader(main.business.businessId);
    for (const table of tableNames) {
      for (const id of idsOf(other.rows, table)) expect(await reader.get(table, id as string)).toBeUndefined();
    }
    expect(other.rows.submissions.length).toBeGreaterThan(5);
    expect(other.rows.reviewers.length).toBeGreaterThan(3);
    expect(main.business.createdAt < other.business.createdAt).toBe(true);
  });

  test("field values are valid for their form", () => {
    for (const { rows } of demo.tenants) {
      for (const submission of rows.submissions) {
        const { fields } = formOf(rows, submission.schemaId, submission.schemaVersion);
        expect(checkValues(fields, submission.fields, "fields")).toEqual([]);
        expect(submission.title).toBe(getTitle(fields, submission.fields));
        if (submission.submittedAt !== null) expect(listMissingRequired(fields, submission.fields)).toEqual([]);
      }
      for (const { schemaId, fields, status } of rows.supplements) {
        const form = formOf(rows, schemaId, 1);
        expect(checkValues(form.fields, fields, "fields")).toEqual([]);
        if (status === "submitted") expect(listMissingRequired(form.fields, fields)).toEqual([]);
        if (status === "not_started") expect(fields).toEqual({});
      }
      for (const { customFields, customFieldSchemaVersion } of rows.persons) {
        const schema = rows.personSchemas.find(({ schemaVersion }) => schemaVersion === customFieldSchemaVersion);
        expect(checkValues(schema?.fields ?? [], customFields, "customFields")).toEqual([]);
      }
    }
  });

  test("forms have fields of the types that they should show", () => {
    const application = main.rows.schemas.filter(({ name }) => name === "Community project application");
    expect(application.map(({ schemaVersion }) => schemaVersion)).toEqual([1, 2]);
    const [, latest] = application;
    const types = new Set(latest?.fields.map(({ type }) => type));
    for (const type of ["text", "textarea", "number", "date", "boolean", "select", "multiselect", "file", "section"]) {
      expect(types).toContain(type);
    }
    const [person] = main.rows.personSchemas.filter(({ active }) => active);
    expect(valuesOf(person?.fields ?? [], "type")).toEqual(new Set(PersonFieldType.options));
    expect(valuesOf(person?.fields ?? [], "sensitivity")).toEqual(new Set(["standard", "pii", "restricted"]));
    expect(valuesOf(person?.fields ?? [], "archived")).toEqual(new Set([true, false]));
    expect(main.rows.persons.some(({ customFields }) => Object.keys(customFields).length >= 6)).toBe(true);
  });

  test("reviewers' expertise uses the options of the programme's domain field", () => {
    const program = main.rows.programs.find(({ lifecycleStatus }) => lifecycleStatus === "underway");
    for (const track of main.rows.tracks.filter(({ programId }) => programId === program?.programId)) {
      const { fields } = formOf(main.rows, track.schemaId, track.schemaVersion);
      const domain = fields.find(({ fieldId }) => fieldId === program?.assignmentRules.domainFieldId);
      expect(domain?.key).toBe("domain");
      const options = domain?.constraints?.options ?? [];
      for (const { expertise } of main.rows.reviewers) expect(options).toEqual(expect.arrayContaining(expertise));
    }
  });

  test("rounds are numbered from one, and some are active", () => {
    const program = main.rows.programs.find(({ lifecycleStatus }) => lifecycleStatus === "underway");
    const ofProgram = main.rows.tracks.filter(({ programId }) => programId === program?.programId);
    const tracks = ofProgram.toSorted((a, b) => a.order - b.order);
    const sequences = tracks.map(({ trackId }) =>
      main.rows.rounds.filter((round) => round.trackId === trackId).map(({ sequence, active }) => [sequence, active]),
    );
    expect(sequences.map((of) => of.toSorted(([a], [b]) => Number(a) - Number(b)))).toEqual([
      [
        [1, true],
        [2, true],
        [3, false],
      ],
      [
        [1, true],
        [2, true],
      ],
    ]);
  });
});
