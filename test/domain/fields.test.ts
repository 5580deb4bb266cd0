import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkValues, type FieldDefinition, listMissingRequired, mergeValues } from "../../src/domain/fields.ts";
import { budgetMs, createPatternMatcher } from "../../src/domain/pattern.ts";

function field(type: FieldDefinition["type"], more: Partial<FieldDefinition> = {}): FieldDefinition {
  const base = { fieldId: "fld_x", key: "x", label: "X", required: true, archived: false, order: 0 };
  return { ...base, sensitivity: "standard", type, ...more };
}

const codesOf = (definition: FieldDefinition, value: unknown) =>
  checkValues([definition], { fld_x: value }, "fields").map(({ path, code }) => `${path} ${code}`);

const options = ["red", "blue"];

const accepted: readonly [FieldDefinition["type"], FieldDefinition["constraints"], unknown][] = [
  ["text", {}, ""],
  ["text", { minLength: 2, maxLength: 3 }, "abc"],
  ["text", { pattern: "b" }, "abc"],
  ["text", { pattern: "^\\p{L}+$" }, "Šárka"],
  ["text", { pattern: "\\_x" }, "_x"],
  ["text", { pattern: "(" }, "anything"],
  ["textarea", {}, "x".repeat(32768)],
  ["number", { min: 1, max: 2 }, 1],
  ["number", {}, -0.5],
  ["date", {}, "2028-02-29"],
  ["boolean", {}, false],
  ["select", { options }, "red"],
  ["multiselect", { options, minItems: 1, maxItems: 2 }, ["red", "blue"]],
  ["multiselect", { options }, []],
  ["file", {}, "fil_1"],
  ["file", { maxItems: 2 }, ["fil_1", "fil_2"]],
];

test.each(accepted)("%s with %j takes %j", (type, constraints, value) => {
  expect(codesOf(field(type, { constraints }), value)).toEqual([]);
});

const refused: readonly [FieldDefinition["type"], FieldDefinition["constraints"], unknown, string][] = [
  ["text", {}, 1, "invalid_type"],
  ["text", { minLength: 2 }, "a", "too_small"],
  ["text", { maxLength: 3 }, "abcd", "too_big"],
  ["text", { pattern: "^b" }, "abc", "invalid_format"],
  ["textarea", {}, "x".repeat(32769), "too_big"],
  ["number", {}, "1", "invalid_type"],
  ["number", {}, Number.NaN, "invalid_type"],
  ["number", { min: 1 }, 0.9, "too_small"],
  ["number", { max: 2 }, 2.1, "too_big"],
  ["date", {}, "20.11.2026", "invalid_format"],
  ["date", {}, "2026-02-30", "invalid_format"],
  ["date", {}, "2026-11-20T06:01:05", "invalid_format"],
  ["date", {}, "2026-11-20T06:01:05+02:00", "invalid_format"],
  ["date", {}, "2026-11-20T00:00:00Z", "invalid_format"],
  ["boolean", {}, "true", "invalid_type"],
  ["select", { options }, "green", "invalid_value"],
  ["select", { options }, ["red"], "invalid_type"],
  ["multiselect", { options }, "red", "invalid_type"],
  ["multiselect", { options }, ["red", "green"], "invalid_value"],
  ["multiselect", { options }, ["red", "red"], "invalid_value"],
  ["multiselect", { options, minItems: 2 }, ["red"], "too_small"],
  ["multiselect", { options, maxItems: 1 }, ["red", "blue"], "too_big"],
  ["file", {}, { fileId: "fil_1" }, "invalid_type"],
  ["file", { maxItems: 1 }, ["fil_1", "fil_2"], "too_big"],
  ["section", {}, "anything", "unrecognized_keys"],
];

test.each(refused)("%s with %j refuses %j", (type, constraints, value, code) => {
  expect(codesOf(field(type, { constraints }), value)).toEqual([`fields.fld_x ${code}`]);
});

describe("checkValues", () => {
  test("refuses unknown ids and archived fields, but not a null that clears them", () => {
    const archived = field("text", { archived: true });
    expect(codesOf(archived, "kept")).toEqual(["fields.fld_x unrecognized_keys"]);
    expect(codesOf(archived, null)).toEqual([]);
    expect(checkValues([archived], { fld_y: 1 }, "fields")).toMatchObject([{ path: "fields.fld_y" }]);
  });

  test("stops a pattern with catastrophic backtracking, and refuses the value", () => {
    const startedMs = performance.now();
    const fields = [1, 2, 3].map((n) => field("text", { fieldId: `fld_${n}`, constraints: { pattern: "^(a+)+$" } }));
    const value = `${"a".repeat(60)}!`;
    const issues = checkValues(fields, { fld_1: value, fld_2: value, fld_3: value }, "fields");
    expect(issues.map((issue) => issue.path)).toEqual(["fields.fld_1", "fields.fld_2", "fields.fld_3"]);
    expect(performance.now() - startedMs).toBeLessThan(5000);
  });

  test("does not count the time for which the process is suspended", () => {
    let waits = 2;
    // Stands still without working, as a process does that the machine has no time for.
    const value = {
      toString() {
        if (waits-- > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * budgetMs);
        return "+31 20 123456";
      },
    } as unknown as string;
    expect(createPatternMatcher()("^\\+[0-9 ]+$", value)).toBe(true);
    expect(waits).toBeLessThan(0);
  });

  test("reports neither values nor long names, and a bounded number of issues", () => {
    const values = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`${n}${"x".repeat(1000)}`, "secret"]));
    const issues = checkValues([], values, "fields");
    expect(issues).toHaveLength(50);
    expect(JSON.stringify(issues)).not.toContain("secret");
    expect(Math.max(...issues.map((issue) => issue.path.length))).toBeLessThan(300);
  });

  test("never throws, whatever the values and the pattern", () => {
    const types = ["text", "number", "date", "boolean", "select", "multiselect", "file", "section"] as const;
    const fields = types.map((type) => field(type, { fieldId: type }));
    const values = fc.dictionary(fc.constantFrom(...types, "__proto__", "constructor", "fld_y"), fc.jsonValue());
    fc.assert(
      fc.property(values, fc.string({ maxLength: 12 }), (change, pattern) => {
        const matched = field("text", { fieldId: "text", constraints: { pattern } });
        const issues = checkValues([...fields, matched], change, "fields");
        const named = new Set(Object.keys(change).map((fieldId) => `fields.${fieldId}`));
        expect(issues.every((issue) => named.has(issue.path))).toBe(true);
      }),
    );
  });
});

describe("missingRequired", () => {
  test("names required fields without a value, blank text and empty lists among them", () => {
    const fields = ["none", "blank", "empty", "nil", "no", "zero"].map((fieldId) => field("text", { fieldId }));
    const values = { blank: " ", empty: [], nil: null, no: false, zero: 0 };
    expect(listMissingRequired(fields, values)).toEqual(["none", "blank", "empty", "nil"]);
  });

  test("asks for nothing optional, archived or inherited, and for no section", () => {
    const fields = [field("text", { required: false }), field("text", { archived: true }), field("section")];
    expect(listMissingRequired(fields, {})).toEqual([]);
    expect(listMissingRequired([field("text", { fieldId: "constructor" })], {})).toEqual(["constructor"]);
  });
});

describe("mergeValues", () => {
  const values = fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor")), fc.jsonValue());

  test("takes each name from the change, else from before, and leaves out what the change has as null", () => {
    fc.assert(
      fc.property(values, values, (before, change) => {
        const merged = mergeValues<unknown>(before, change);
        expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
        for (const name of new Set([...Object.keys(before), ...Object.keys(change)])) {
          const expected = Object.hasOwn(change, name) ? change[name] : before[name];
          const cleared = Object.hasOwn(change, name) && expected === null;
          expect(Object.hasOwn(merged, name)).toBe(!cleared);
          if (!cleared) expect(Object.getOwnPropertyDescriptor(merged, name)?.value).toBe(expected);
        }
      }),
    );
  });

  test("changes neither of its arguments", () => {
    const [before, change] = [Object.freeze({ a: 1, b: 2 }), Object.freeze({ a: null, c: 3 })];
    expect(mergeValues<number>(before, change)).toEqual({ b: 2, c: 3 });
  });
});
