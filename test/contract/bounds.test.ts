import { describe, expect, test } from "vitest";
import * as z from "zod";
import { splitInput } from "../../src/contract/definition/operation.ts";
import { type OperationName, operationNames, operations } from "../../src/contract/index.ts";
import { validateInput } from "../../src/pipeline/steps/validate.ts";
import { exampleArguments, replaced } from "../support/data/arguments.ts";
import type { ClientProblem } from "../support/servers/test-server.ts";

interface Bound {
  readonly accepts: readonly unknown[];
  readonly isBlocked: readonly unknown[];
}

const chars = (count: number) => "x".repeat(count);
const email = (count: number) => `${chars(count - "@example.org".length)}@example.org`;

const text = (max: number, min = 0): Bound => ({
  accepts: [chars(max), chars(min)],
  isBlocked: [chars(max + 1), ...(min > 0 ? [chars(min - 1)] : []), 7, null],
});
const whole = (min: number, max?: number): Bound => ({
  accepts: [min, ...(max === undefined ? [1_000_000] : [max])],
  isBlocked: [min - 1, min + 0.5, "1", null, ...(max === undefined ? [] : [max + 1])],
});
const choice = (...values: string[]): Bound => ({
  accepts: values,
  isBlocked: [values.join(""), `${values[0]}x`, "", null, 0],
});
const flag: Bound = { accepts: [true, false], isBlocked: ["true", 1, null] };
const moment: Bound = {
  accepts: [
    "2026-11-20T04:01:05Z",
    "2026-11-20T04:01:05.123Z",
    "2026-11-20T04:01:05+05:30",
    "9999-12-31T23:59:59Z",
    "2026-11-20t04:01:05z",
    "2026-11-20t04:01:05.5-00:00",
  ],
  isBlocked: [
    "9999-12-31T23:59:59-01:00",
    "0000-01-01T00:00:00+01:00",
    "2026-11-20",
    "2026-11-20T04:01:05",
    "2026-13-01T00:00:00Z",
    "tomorrow",
    "",
    0,
    null,
  ],
};
const day: Bound = {
  accepts: ["2026-11-20", "2026-11-20T04:01:05.123Z", "2026-11-20T04:01:05-03:00", "2026-11-20t04:01:05z"],
  isBlocked: ["2026-11-20t", "2026-11-20z", "2026-02-30", "20.11.2026", "yesterday", ""],
};
const address: Bound = {
  accepts: ["ada@example.org", email(255)],
  isBlocked: ["ada", "ada@", "@example.org", "a b@example.org", email(256), ""],
};
const id: Bound = { accepts: ["x", chars(255)], isBlocked: ["", chars(256), 7, null] };
const part = text(255, 1);
const version = whole(0);
const freeForm: Bound = { accepts: [{}, { any: [1, { thing: null }] }], isBlocked: ["x", [], 7, null] };
const orNull = ({ accepts, isBlocked }: Bound): Bound => ({
  accepts: [...accepts, null],
  isBlocked: isBlocked.filter((value) => value !== null),
});

const customValue = {
  accepts: [chars(32768), Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0.5, true, [], Array(100).fill(chars(512))],
  isBlocked: [chars(32769), 2 ** 53, -(2 ** 53), Array(101).fill("x"), [chars(513)], [1], { a: 1 }],
};

const branding: Record<string, Bound> = {
  "branding.headerText": text(5000),
  "branding.footerText": text(5000),
  ...Object.fromEntries(
    ["landing", "register", "submission", "submitted"].flatMap((page) => [
      [`branding.pages.${page}.heroTitle`, text(120)],
      [`branding.pages.${page}.heroSubtitle`, text(240)],
      [`branding.pages.${page}.bodyHtml`, text(5000)],
      [`branding.pages.${page}.ctaLabel`, text(40)],
    ]),
  ),
};
const contact: Record<string, Bound> = {
  "contactDetails.firstName": text(100, 1),
  "contactDetails.lastName": text(100, 1),
  "contactDetails.phone": text(50, 1),
  "contactDetails.organization": text(255, 1),
  "contactDetails.title": text(255, 1),
  "contactDetails.address": text(500, 1),
};
const ref = (prefix: string): Record<string, Bound> => ({
  [`${prefix}namespace`]: part,
  [`${prefix}objectType`]: part,
  [`${prefix}externalId`]: part,
});
const kinds: Bound = {
  accepts: [[], ["applicant"], ["applicant", "reviewer", "contact"]],
  isBlocked: [["staff"], "applicant", null],
};
const person: Record<string, Bound> = {
  kinds,
  "provenance.source": text(100, 1),
  "provenance.sourceId": part,
  ...contact,
};
const page: Record<string, Bound> = {
  limit: { accepts: [1, 100, 101, 1000], isBlocked: [0, -1, 1.5, "ten", null] },
  lastEvaluatedKey: { accepts: ["x"], isBlocked: [""] },
};
const fieldIds: Bound = {
  accepts: [
    "a",
    " a , b ",
    Array(25).fill("f").join(","),
    Array.from({ length: 25 }, (_, index) => `f${index}`).join(","),
  ],
  isBlocked: ["", ",", Array.from({ length: 26 }, (_, index) => `f${index}`).join(","), Array(26).fill("f").join(",")],
};
const reasoned = { reason: text(1000, 1), version };
const optional = { reason: text(1000), version };

/** The bounds of the specification's sections 2 to 4. */
const bounds: { readonly [Name in OperationName]?: Record<string, Bound> } = {
  list_submissions: {
    submittedFrom: day,
    submittedTo: day,
    updatedSince: day,
    programId: id,
    trackId: id,
    roundId: id,
    ...page,
  },
  create_submission: {
    trackId: id,
    fields: freeForm,
    deadline: moment,
    innovatorId: { accepts: ["x"], isBlocked: ["", null] },
    innovatorEmail: address,
    innovatorName: text(200, 1),
    personId: id,
    ...ref("externalRef."),
  },
  update_submission: { ...optional, fields: freeForm, deadline: moment, state: choice("DRAFT", "WITHDRAWN") },
  advance_submission: { ...optional, toRoundId: id },
  eliminate_submission: reasoned,
  update_submission_fields: { fields: freeForm, version },
  reopen_submission: reasoned,
  screen_submission: { ...optional, eligible: flag },
  set_submission_state: { ...optional, state: choice("FINALIST", "WINNER") },
  submit_submission: { version, acknowledgeSupplementWarnings: flag },
  withdraw_submission: reasoned,
  update_supplement: {
    version,
    fields: freeForm,
    "fileIds.0": id,
    status: choice("not_started", "draft", "submitted", "closed"),
    contributorId: { accepts: ["x"], isBlocked: ["", 7, null] },
    contributorIndex: whole(0, 9),
  },
  close_supplement: { version },
  reopen_supplement: { version },
  list_applicants: { includePersonFieldIds: fieldIds, programId: id, trackId: id, ...page },
  list_assignments: {
    status: choice("assigned", "accepted", "declined", "conflict", "completed", "cancelled", "incomplete"),
    includeInactive: flag,
    ...page,
  },
  reassign_assignment: { newReviewerId: id, ...optional },
  auto_assign_reviewers: {
    roundId: id,
    reviewsPerSubmission: whole(0),
    useExpertiseMatching: flag,
    domainFieldId: text(100),
    excludePriorRoundReviewers: flag,
  },
  bulk_assign_reviewers: {
    roundId: id,
    "submissionIds.0": id,
    "reviewerIds.0": id,
    "pairs.0.submissionId": id,
    "pairs.0.reviewerId": id,
  },
  list_audit_entries: { submissionId: id, programId: id, ...page },
  list_email_sends: { recipientEmail: address, limit: page["limit"] as Bound },
  send_bulk_email: {
    "reviewers.reviewerIds.0": id,
    "reviewers.subject": text(500, 1),
    "reviewers.body": text(50_000, 1),
    "applicants.applicantEmails.0": address,
    "applicants.subject": text(500, 1),
    "applicants.body": text(50_000, 1),
  },
  create_export: {
    programId: id,
    trackId: id,
    state: text(64, 1),
    submittedFrom: moment,
    submittedTo: moment,
    "persons.fieldIds": { accepts: [[], Array(25).fill("x")], isBlocked: [Array(26).fill("x"), "x", null] },
    "persons.fieldIds.0": part,
  },
  list_released_feedback: { programId: id, submissionId: id, ...page },
  list_payments: { status: choice("pending", "succeeded", "failed", "waived", "refunded"), ...page },
  list_persons: { updatedAfter: day, cursor: { accepts: ["x"], isBlocked: [""] }, ...page },
  create_person: {
    ...person,
    primaryEmail: address,
    platformUserId: part,
    "customFields.fld_x": { ...customValue, isBlocked: [...customValue.isBlocked, null] },
    ...ref("externalRefs.0."),
    metadata: freeForm,
  },
  update_person: {
    ...person,
    version,
    primaryEmail: orNull(address),
    contactDetails: { accepts: [null, {}], isBlocked: ["x", []] },
    platformUserId: orNull(part),
    "customFields.fld_x": orNull({ accepts: customValue.accepts, isBlocked: customValue.isBlocked }),
    metadata: freeForm,
  },
  add_person_external_ref: { ...ref("externalRef."), version },
  remove_person_external_ref: { ...ref(""), version },
  merge_person: {
    targetPersonId: id,
    sourceVersion: version,
    targetVersion: version,
    "preferSourceCustomFieldIds.0": part,
  },
  resolve_persons: { personId: id, email: address, platformUserId: part, ...ref("") },
  list_programs: page,
  update_program: {
    name: text(200, 1),
    description: text(1000),
    year: whole(1900, 3000),
    startDate: moment,
    endDate: moment,
    lifecycleStatus: choice("draft", "configured", "underway", "completed", "archived"),
    version,
    ...branding,
  },
  list_tracks: page,
  update_track: { version, intakeOpen: flag, intakeOpenDate: moment, intakeCloseDate: moment, ...branding },
  update_round: { version, startDate: moment, endDate: moment, deadline: moment, active: flag },
  list_reviewers: {
    includePersonFieldIds: fieldIds,
    status: choice("invited", "active", "declined", "inactive"),
    ...page,
  },
  get_reviewer: { includePersonFieldIds: fieldIds },
  invite_reviewer: {
    email: address,
    firstName: text(100, 1),
    lastName: text(100, 1),
    affiliation: text(200),
    "expertise.0": text(50),
    "roundIds.0": id,
    programName: text(200),
    message: text(1000),
    role: choice("reviewer", "lead_reviewer"),
    suppressEmails: flag,
  },
  list_reviews: { submissionId: id, roundId: id, reviewerId: id, ...page },
  get_submission_reviews_summary: { roundId: id },
  get_rubric: { version: whole(1) },
  get_schema: { version: whole(1) },
};

/** Fields of bodies and queries that the specification's section 4 marks as required, objects within objects too. */
const required: { readonly [Name in OperationName]?: string } = {
  create_submission: "trackId fields deadline externalRef.namespace externalRef.objectType externalRef.externalId",
  update_submission: "version",
  advance_submission: "toRoundId version",
  eliminate_submission: "reason version",
  update_submission_fields: "fields version",
  reopen_submission: "reason version",
  screen_submission: "eligible version",
  set_submission_state: "state version",
  submit_submission: "version",
  withdraw_submission: "reason version",
  update_supplement: "version",
  close_supplement: "version",
  reopen_supplement: "version",
  reassign_assignment: "newReviewerId version",
  auto_assign_reviewers: "roundId",
  bulk_assign_reviewers: "roundId pairs.submissionId pairs.reviewerId",
  list_email_sends: "recipientEmail",
  send_bulk_email:
    "reviewers.reviewerIds reviewers.subject reviewers.body applicants.applicantEmails applicants.subject applicants.body",
  create_export: "programId persons.fieldIds",
  list_payments: "status",
  create_person:
    "kinds provenance provenance.source externalRefs.namespace externalRefs.objectType externalRefs.externalId",
  update_person: "version provenance.source",
  add_person_external_ref: "externalRef externalRef.namespace externalRef.objectType externalRef.externalId version",
  remove_person_external_ref: "namespace objectType externalId version",
  merge_person: "targetPersonId sourceVersion targetVersion",
  update_track: "version",
  update_round: "version",
  invite_reviewer: "email",
};

const rows = Object.entries(bounds).flatMap(([name, fields]) =>
  Object.entries(fields).map(([path, bound]) => [name as OperationName, path, bound] as const),
);

describe("bounds of the specification", () => {
  test.each(operationNames)("%s requires exactly the fields that the specification marks as required", (name) => {
    const { queryObject, body } = operations[name];
    const parts = [queryObject, ...(body ? [body] : [])].map((part) => z.toJSONSchema(part, { io: "input" }));
    expect(parts.flatMap(requiredIn).toSorted()).toEqual((required[name]?.split(" ") ?? []).toSorted());
  });

  test.each(rows)("%s: %s", (name, path, { accepts, isBlocked }) => {
    for (const value of accepts) expect(faultsOf(name, path, value), shown(value)).toEqual([]);
    for (const value of isBlocked) expect(faultsOf(name, path, value), shown(value)).not.toEqual([]);
  });

  test("page sizes above 100 are taken for 100, none for 50", () => {
    const limitOf = (limit?: number) => inputOf("list_programs", { limit })["limit"];
    expect([limitOf(), limitOf(1), limitOf(100), limitOf(1000)]).toEqual([50, 1, 100, 100]);
  });

  test("times are kept as UTC with milliseconds; days begin and end in UTC", () => {
    const deadline = inputOf("update_round", { deadline: "2026-11-20T04:01:05+05:30" });
    expect(deadline["deadline"]).toBe("2026-11-19T22:31:05.000Z");
    for (const name of ["deadline", "startDate"]) {
      expect(inputOf("update_round", { [name]: "2026-11-20t04:01:05.5z" })[name]).toBe("2026-11-20T04:01:05.500Z");
    }
    expect(inputOf("list_submissions", { updatedSince: "2026-11-20t04:01:05+01:00" })["updatedSince"]).toBe(
      "2026-11-20T03:01:05.000Z",
    );
    expect(inputOf("list_submissions", { submittedFrom: "2026-11-20", submittedTo: "2026-11-20" })).toMatchObject({
      submittedFrom: "2026-11-20T00:00:00.000Z",
      submittedTo: "2026-11-20T23:59:59.999Z",
    });
  });

  test("field ids are trimmed, and each is named once", () => {
    const input = inputOf("list_applicants", { includePersonFieldIds: " a ,b,,a" });
    expect(input["includePersonFieldIds"]).toEqual(["a", "b"]);
  });
});

/** Paths of the required properties of a JSON Schema; what is in a list stands below the list's own name. */
function requiredIn({ properties = {}, required = [], items, anyOf = [] }: z.core.JSONSchema.BaseSchema): string[] {
  const inside = Object.entries(properties).flatMap(([name, property]) =>
    requiredIn(property as z.core.JSONSchema.BaseSchema).map((path) => `${name}.${path}`),
  );
  const others = [...anyOf, ...(Array.isArray(items) ? items : items ? [items] : [])];
  return [...required, ...inside, ...others.flatMap((other) => requiredIn(other as z.core.JSONSchema.BaseSchema))];
}

function inputOf(name: OperationName, given: Record<string, unknown>): Record<string, unknown> {
  return validateInput(operations[name], splitInput(operations[name], { ...exampleArguments(name), ...given }));
}

/** Paths of the issues that a value raises, which must all lie at or below its own. */
function faultsOf(name: OperationName, path: string, value: unknown): string[] {
  const input = replaced(withRoom(name, path), path.split("."), value);
  try {
    validateInput(operations[name], splitInput(operations[name], input));
    return [];
  } catch (error) {
    const { details } = error as ClientProblem;
    const paths = (details["issues"] as { path: string }[]).map((issue) => issue.path);
    for (const found of paths) expect(`${found}.`).toMatch(new RegExp(`^${path}\\.`));
    return paths;
  }
}

/** Examples leave free-form maps empty: there is room for a field of any name. */
function withRoom(name: OperationName, path: string): Record<string, unknown> {
  const input = exampleArguments(name);
  return path.startsWith("customFields.") ? { ...input, customFields: {} } : input;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 60);
}
