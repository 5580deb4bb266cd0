import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import type { CustomFields, Person, PersonField } from "../../src/contract/persons.ts";
import {
  changeCustomFields,
  checkCustomFields,
  checkMetadata,
  isActive,
  maxExternalRefs,
  mergePersons,
  parsePersonSelector,
} from "../../src/domain/persons.ts";

function person(personId: string, change: Partial<Person> = {}): Person {
  return {
    personId,
    businessId: "biz_1",
    kinds: [],
    customFields: {},
    customFieldSchemaVersion: 1,
    externalRefs: [],
    provenance: { source: "crm" },
    active: true,
    anonymizedAt: null,
    mergedIntoPersonId: null,
    metadata: {},
    createdBy: "tok_1",
    updatedBy: "tok_1",
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:00:00.000Z",
    version: 0,
    ...change,
  };
}

function field(fieldId: string, change: Partial<PersonField> = {}): PersonField {
  return {
    fieldId,
    key: fieldId,
    label: fieldId,
    type: "text",
    required: false,
    sensitivity: "standard",
    archived: false,
    order: 0,
    ...change,
  };
}

const ref = (externalId: string) => ({ namespace: "crm", objectType: "contact", externalId });

describe("custom fields", () => {
  const fields = [field("city", { required: true }), field("shirt"), field("old", { archived: true })];

  test("of a new person must be known, valid and complete", () => {
    expect(() => checkCustomFields(fields, { city: "Oslo", shirt: "M" })).not.toThrow();
    expect(pathsOf(() => checkCustomFields(fields, { shirt: "M", shoe: 44 }))).toEqual([
      "customFields.shoe",
      "customFields.city",
    ]);
  });

  test("change by name: null clears, the rest stays", () => {
    const before = { city: "Oslo", shirt: "M", old: "x" };
    expect(changeCustomFields(fields, before, { shirt: "L" })).toEqual({ city: "Oslo", shirt: "L", old: "x" });
    expect(changeCustomFields(fields, before, { shirt: null, old: null })).toEqual({ city: "Oslo" });
  });

  test("cannot be cleared when required, but a gap from before does not block other changes", () => {
    expect(pathsOf(() => changeCustomFields(fields, { city: "Oslo" }, { city: null }))).toEqual(["customFields.city"]);
    expect(changeCustomFields(fields, {}, { shirt: "L" })).toEqual({ shirt: "L" });
  });

  test("that are unknown are refused, cleared or set", () => {
    expect(pathsOf(() => changeCustomFields(fields, {}, { a: null, b: 1 }))).toEqual([
      "customFields.b",
      "customFields.a",
    ]);
  });
});

describe("a merge", () => {
  const fields = [field("city"), field("shirt")];

  test("keeps the target's values, fills what it lacks and unites the rest", () => {
    const source = person("per_s", {
      primaryEmail: "source@example.org",
      platformUserId: "user_s",
      contactDetails: { firstName: "Sara", phone: "1" },
      kinds: ["contact", "applicant"],
      customFields: { city: "Oslo", shirt: "M" },
      customFieldSchemaVersion: 3,
      externalRefs: [ref("s")],
      metadata: { a: 1, b: 1 },
      provenance: { source: "import" },
    });
    const target = person("per_t", {
      primaryEmail: "target@example.org",
      contactDetails: { firstName: "Sarah" },
      kinds: ["reviewer", "contact"],
      customFields: { city: "Bergen" },
      externalRefs: [ref("t")],
      metadata: { b: 2 },
    });
    const merged = mergePersons(source, target, fields, []);
    expect(merged.source).toEqual({ active: false, mergedIntoPersonId: "per_t", externalRefs: [] });
    expect(merged.target).toEqual({
      primaryEmail: "target@example.org",
      platformUserId: "user_s",
      contactDetails: { firstName: "Sarah", phone: "1" },
      kinds: ["reviewer", "contact", "applicant"],
      customFields: { city: "Bergen", shirt: "M" },
      customFieldSchemaVersion: 3,
      externalRefs: [ref("t"), ref("s")],
      metadata: { a: 1, b: 2 },
    });
    expect(mergePersons(source, target, fields, ["city"]).target.customFields).toEqual({ city: "Oslo", shirt: "M" });
  });

  test("of two who lack something leaves it lacking", () => {
    const { target } = mergePersons(person("per_s"), person("per_t"), fields, ["city"]);
    expect(target).toMatchObject({ primaryEmail: undefined, contactDetails: undefined, customFields: {} });
  });

  test("refuses an unknown preferred field", () => {
    const source = person("per_s", { customFields: { stale: 1 } });
    expect(() => mergePersons(source, person("per_t"), fields, ["stale", "city"])).not.toThrow();
    expect(pathsOf(() => mergePersons(source, person("per_t"), fields, ["city", "toString"]))).toEqual([
      "preferSourceCustomFieldIds.1",
    ]);
  });

  test("refuses more references than a person may have", () => {
    const many = (letter: string, count: number) =>
      person(letter, { externalRefs: Array.from({ length: count }, (_, index) => ref(`${letter}${index}`)) });
    expect(() => mergePersons(many("a", maxExternalRefs - 1), many("b", 1), fields, [])).not.toThrow();
    expect(pathsOf(() => mergePersons(many("a", maxExternalRefs), many("b", 1), fields, []))).toEqual([
      "targetPersonId",
    ]);
  });

  test("takes every value from one of the two, the target's unless the source is preferred", () => {
    const ids = ["a", "b", "c", "d"];
    const values: fc.Arbitrary<CustomFields> = fc.dictionary(fc.constantFrom(...ids), fc.integer());
    fc.assert(
      fc.property(values, values, fc.subarray(ids), (ofSource, ofTarget, preferred) => {
        const source = person("per_s", { customFields: ofSource });
        const target = person("per_t", { customFields: ofTarget });
        const merged = mergePersons(
          source,
          target,
          ids.map((id) => field(id)),
          preferred,
        ).target.customFields;
        for (const id of ids) {
          const [first, second] = preferred.includes(id) ? [ofSource, ofTarget] : [ofTarget, ofSource];
          expect(merged[id]).toBe(Object.hasOwn(first, id) ? first[id] : second[id]);
        }
        expect(new Set(Object.keys(merged))).toEqual(new Set([...Object.keys(ofSource), ...Object.keys(ofTarget)]));
      }),
    );
  });
});

describe("a selector", () => {
  const triple = { namespace: "crm", objectType: "contact", externalId: "7" };

  test("is one of four", () => {
    expect(parsePersonSelector({ personId: "per_1" })).toEqual({ by: "personId", personId: "per_1" });
    expect(parsePersonSelector({ email: "a@example.org" })).toEqual({ by: "email", email: "a@example.org" });
    expect(parsePersonSelector({ platformUserId: "u" })).toEqual({ by: "platformUserId", platformUserId: "u" });
    expect(parsePersonSelector(triple)).toEqual({ by: "externalRef", externalRef: triple });
  });

  test.each([
    ["none", {}, ["personId", "email", "platformUserId", "namespace", "objectType", "externalId"]],
    ["two", { personId: "per_1", email: "a@example.org" }, ["personId", "email"]],
    [
      "one beside a reference",
      { email: "a@example.org", ...triple },
      ["email", "namespace", "objectType", "externalId"],
    ],
    ["one beside part of a reference", { email: "a@example.org", namespace: "crm" }, ["email", "namespace"]],
    ["an incomplete reference", { namespace: "crm", externalId: "7" }, ["objectType"]],
  ])("with %s is refused", (_, query, paths) => {
    expect(pathsOf(() => parsePersonSelector(query))).toEqual(paths);
  });
});

test("metadata has a bound in bytes", () => {
  expect(() => checkMetadata({ note: "a".repeat(200_000) })).not.toThrow();
  expect(pathsOf(() => checkMetadata({ note: "å".repeat(200_000) }))).toEqual(["metadata"]);
});

test("a merged or anonymised person is not active", () => {
  expect(isActive(person("per_1"))).toBe(true);
  expect(isActive(person("per_1", { active: false }))).toBe(false);
  expect(isActive(person("per_1", { anonymizedAt: "2026-01-01T00:00:00.000Z" }))).toBe(false);
});

/** Paths of the issues of the `validation_failed` that `run` throws. */
function pathsOf(run: () => unknown): unknown[] {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "validation_failed") throw error;
    return (error.details?.["issues"] as { path: string }[]).map(({ path }) => path);
  }
  throw new Error("Nothing was refused");
}
