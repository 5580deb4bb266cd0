import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type * as z from "zod";
import { unwrap } from "../../src/contract/definition/schema-visitor.ts";
import { type OperationName, operationNames, operations } from "../../src/contract/index.ts";
import { getToolArguments } from "../../src/tools/catalog/tool-options.ts";
import { coerceArguments } from "../../src/tools/coerce-arguments.ts";
import { arbitraryOf } from "../store/arbitrary.ts";
import { exampleArguments } from "../support/data/arguments.ts";

function read(name: OperationName, args: Record<string, unknown>) {
  return coerceArguments(getToolArguments(name).shape, args);
}

describe("a miswritten but unambiguous argument is corrected:", () => {
  test.each<[OperationName, Record<string, unknown>, Record<string, unknown>, string[]]>([
    ["list_submissions", { limit: "5" }, { limit: 5 }, ["limit: the text was read as a number."]],
    [
      "list_assignments",
      { includeInactive: "True" },
      { includeInactive: true },
      ["includeInactive: the text was read as true or false."],
    ],
    ["list_submissions", { state: "in review" }, { state: "IN_REVIEW" }, ["state: the text was read as IN_REVIEW."]],
    ["create_person", { kinds: ["Applicant"] }, { kinds: ["applicant"] }, ["kinds.0: the text was read as applicant."]],
    ["list_submissions", { trackId: null, state: "DRAFT" }, { state: "DRAFT" }, ["trackId: null was read as absent."]],
    [
      "create_submission",
      { fields: '{"fld_a":"1"}' },
      { fields: { fld_a: "1" } },
      ["fields: the JSON text was read as an object."],
    ],
    [
      "bulk_assign_reviewers",
      { submissionIds: '["a","b"]' },
      { submissionIds: ["a", "b"] },
      ["submissionIds: the JSON text was read as a list."],
    ],
    [
      "bulk_assign_reviewers",
      { submissionIds: "a" },
      { submissionIds: ["a"] },
      ["submissionIds: the single value was read as a list."],
    ],
    [
      "bulk_assign_reviewers",
      { submissionIds: "a, b" },
      { submissionIds: ["a", "b"] },
      ["submissionIds: the commas were read as separating a list."],
    ],
    [
      "create_person",
      { kinds: "applicant,reviewer" },
      { kinds: ["applicant", "reviewer"] },
      ["kinds: the commas were read as separating a list."],
    ],
    [
      "get_reviewer",
      { includePersonFieldIds: ["a", "b"] },
      { includePersonFieldIds: "a,b" },
      ["includePersonFieldIds: the list was joined with commas."],
    ],
    ["get_submission", { submission_id: "s" }, { submissionId: "s" }, ["submission_id was read as submissionId."]],
    ["get_submission", { submissionID: "s" }, { submissionId: "s" }, ["submissionID was read as submissionId."]],
    ["get_program", { programme_id: "p" }, { programId: "p" }, ["programme_id was read as programId."]],
    ["get_submission", { id: "s" }, { submissionId: "s" }, ["id was read as submissionId."]],
    [
      "merge_person",
      { personId: "a", id: "b" },
      { personId: "a", targetPersonId: "b" },
      ["id was read as targetPersonId."],
    ],
    ["get_submission", { select: "title" }, { select: ["title"] }, ["select: the single value was read as a list."]],
    [
      "bulk_assign_reviewers",
      { pairs: '{"submission_id":"a","reviewerId":"b"}' },
      { pairs: [{ submissionId: "a", reviewerId: "b" }] },
      [
        "pairs: the single value was read as a list.",
        "pairs.0: the JSON text was read as an object.",
        "pairs.0.submission_id was read as pairs.0.submissionId.",
      ],
    ],
    [
      "create_person",
      { contactDetails: { phone: null, firstName: "Ada" } },
      { contactDetails: { firstName: "Ada" } },
      ["contactDetails.phone: null was read as absent."],
    ],
  ])("%s %j", (name, given, args, notes) => {
    expect(read(name, given)).toEqual({ args, notes });
  });
});

describe("an argument is left as it is:", () => {
  test.each<[OperationName, Record<string, unknown>]>([
    // null that clears.
    ["update_person", { primaryEmail: null, contactDetails: null, platformUserId: null }],
    ["update_person", { customFields: { fld_a: null } }],
    ["update_submission_fields", { fields: { fld_a: null } }],
    // Free-form maps hold what they hold.
    ["create_submission", { fields: { fld_a: '{"x":1}', submission_id: "5", flag: "true", list: "a,b" } }],
    ["create_person", { metadata: { kinds: "a,b", version: "5", nothing: null } }],
    // Neither one value nor clearly several.
    ["invite_reviewer", { expertise: "water, soil and air" }],
    // No number that an integer could be meant by.
    ["list_submissions", { limit: "many" }],
    ["list_submissions", { limit: "5.5" }],
    ["list_assignments", { includeInactive: "maybe" }],
    ["list_submissions", { state: "reviewing" }],
    // Text that another service may give a meaning.
    ["create_export", { state: "in review" }],
    ["create_submission", { fields: "[1]" }],
    ["create_submission", { fields: "not json" }],
    ["get_reviewer", { includePersonFieldIds: ["a,b"] }],
    // Too far, or of several things, or given already.
    ["get_submission", { submision: "s" }],
    ["reassign_assignment", { id: "a" }],
    ["resolve_persons", { id: "p" }],
    ["get_submission", { submissionId: "s", submission_id: "t" }],
    ["get_submission", { submissionId: "s", id: "t" }],
  ])("%s %j", (name, args) => {
    expect(read(name, args)).toEqual({ args, notes: [] });
  });

  test("property names such as __proto__ are ordinary names", () => {
    const args = JSON.parse('{"submissionId":"s","__proto__":{"limit":5},"constructor":1}') as Record<string, unknown>;
    const { args: same } = read("get_submission", args);
    expect(Object.keys(same)).toEqual(["submissionId", "__proto__", "constructor"]);
    expect(Object.getPrototypeOf(same)).toBe(Object.prototype);
  });
});

test("examples of every operation pass as they are", () => {
  for (const name of operationNames) {
    const args = exampleArguments(name);
    expect(read(name, args), name).toEqual({ args, notes: [] });
  }
});

/** Arguments of the right types, with any of the optional ones. */
function validArguments(name: OperationName): fc.Arbitrary<Record<string, unknown>> {
  const { params, queryObject, body } = operations[name];
  const shape: Readonly<Record<string, z.ZodType>> = { ...params.shape, ...queryObject.shape, ...body?.shape };
  const fields = Object.entries(shape);
  return fc.record(Object.fromEntries(fields.map(([field, schema]) => [field, typed(schema)])), {
    requiredKeys: [],
    noNullPrototype: true,
  });
}

// What is transformed is given as what it is transformed from.
function typed(schema: z.ZodType): fc.Arbitrary<unknown> {
  const nullable = schema.safeParse(null).success;
  const values = arbitraryOf(unwrap(schema));
  return nullable ? fc.option(values, { nil: null }) : values;
}

/** Arguments as wrong as can be, under names that are right, nearly right and wrong. */
function anyArguments(name: OperationName): fc.Arbitrary<Record<string, unknown>> {
  const known = Object.keys(getToolArguments(name).shape);
  const snake = known.map((argument) => argument.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  const values = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.json({ maxDepth: 3 }),
    fc.constantFrom("5", "true", "a,b", "a, b c", '["a","b"]', '{"a":1}', '[{"a":"[1]"}]', null, 5, "id"),
  );
  return fc.dictionary(fc.constantFrom(...known, ...snake, "id", "ID", "nothing"), values, { noNullPrototype: true });
}

const anyName = fc.constantFrom(...operationNames);

test("valid arguments are never changed", () => {
  const cases = anyName.chain((name) => validArguments(name).map((args) => ({ name, args })));
  fc.assert(
    fc.property(cases, ({ name, args }) => {
      const before = structuredClone(args);
      expect(read(name, args)).toEqual({ args: before, notes: [] });
    }),
    { numRuns: 500 },
  );
});

test("coercion is idempotent", () => {
  const cases = anyName.chain((name) => anyArguments(name).map((args) => ({ name, args })));
  fc.assert(
    fc.property(cases, ({ name, args }) => {
      const once = read(name, args).args;
      expect(read(name, once)).toEqual({ args: once, notes: [] });
    }),
    { numRuns: 1000 },
  );
});
