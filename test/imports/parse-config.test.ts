import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Mistake } from "../../src/contract/set-up/set-up-plan.ts";
import { formatProgramConfig } from "../../src/imports/format-config.ts";
import { InvalidImport } from "../../src/imports/mistakes.ts";
import { parseProgramConfig } from "../../src/imports/parse-config.ts";
import { parsePeople } from "../../src/imports/parse-people.ts";
import { programTemplate, renderProgramSchema } from "../../src/imports/template.ts";

function listMistakes(parse: () => unknown): readonly Mistake[] {
  try {
    parse();
    return [];
  } catch (error) {
    if (error instanceof InvalidImport) return error.mistakes;
    throw error;
  }
}

function expectRefusal(text: string): InvalidImport {
  try {
    parseProgramConfig(text);
  } catch (error) {
    if (error instanceof InvalidImport) return error;
  }
  throw new Error("The file is not refused");
}

const mistakesIn = (text: string) => listMistakes(() => parseProgramConfig(text));
const minimal = "program: { name: Fund, year: 2030 }\n";

describe("a programme's file", () => {
  test("may be JSON, and needs a programme only", () => {
    const { config } = parseProgramConfig('{"program": {"name": "Fund", "year": 2030}}');
    expect(config).toMatchObject({ program: { name: "Fund", year: 2030 }, tracks: [], forms: [], reviewers: [] });
  });

  test("has a JSON Schema that accepts the example and refuses unknown names", () => {
    const schema = JSON.parse(renderProgramSchema());
    const validate = new Ajv2020({ strict: false, formats: { email: true } }).compile(schema);
    const example = parse(programTemplate);
    expect([validate(example), validate.errors]).toEqual([true, null]);
    expect(validate({ ...example, trakcs: [] })).toBe(false);
  });

  test("reads dates as the start or the end of a day", () => {
    const { config } = parseProgramConfig(
      "program: { name: F, year: 2030, startDate: 2030-01-01, endDate: 2030-01-01 }",
    );
    expect(config.program).toMatchObject({
      startDate: "2030-01-01T00:00:00.000Z",
      endDate: "2030-01-01T23:59:59.999Z",
    });
  });

  test.each([
    ["aliases", `${minimal}a: &a [1]\nb: [*a, *a]\n`, 3, "Aliases"],
    [
      "aliases of aliases",
      `a: &a [x]\n${[..."bcdefgh"].map((name, i) => `${name}: &${name} [${`*${"abcdefgh"[i]},`.repeat(9)}]`).join("\n")}\n`,
      2,
      "Aliases",
    ],
    ["an alias of itself", "program: &p\n  name: *p\n", 2, "Aliases"],
    ["deep brackets", `${minimal}tracks: ${"[".repeat(5000)}`, 2, "Nested too deeply"],
    ["deep dashes", `${minimal}tracks:\n  ${"- ".repeat(5000)}x`, 3, "Nested too deeply"],
    [
      "deep indentation",
      Array.from({ length: 900 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
      201,
      "Nested too deeply",
    ],
    ["a large file", `${minimal}#${"x".repeat(600_000)}`, 1, "larger than"],
    ["a name twice", "program:\n  name: A\n  year: 2030\n  name: B\n", 4, "named twice"],
    ["an unknown tag", "program: !ruby/object:Gem {}\n", 1, "tag"],
    ["binary data", "program:\n  name: !!binary aGk=\n  year: 2030\n", 2, "expected string"],
    ["two documents", `${minimal}---\n${minimal}`, 2, "multiple documents"],
    ["a list for a name", "? [a]\n: 1\n", 1, "Expected a name"],
    ["__proto__", `${minimal}__proto__: { polluted: true }\n`, 2, "Unknown name"],
    ["NUL", 'program: { name: "a\\0b", year: 2030 }\n', 1, "NUL"],
    ["a list for the programme", "program: []\n", 1, "expected object"],
    [
      "thousands of unknown names",
      `${minimal}${Array.from({ length: 40_000 }, (_, i) => `k${i}: v`).join("\n")}`,
      2,
      "Unknown name",
    ],
    ["nothing", "", 1, "expected object"],
    ["text", "hello", 1, "expected object"],
  ])("with %s is refused", (_, text, line, message) => {
    const [first] = mistakesIn(text);
    expect([first?.line, first?.message]).toEqual([line, expect.stringContaining(message)]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("writes nothing to the terminal but text", () => {
    const { message } = expectRefusal(`${minimal}"\\e[31mred": 1\n`);
    expect(message).toMatch(/line 2, column 1, {2}\[31mred: Unknown name/);
  });

  test("lists names that refer to several versions, repeated names and reversed dates", () => {
    const field = "{ key: a, label: A, type: text }";
    const text = `${minimal}tracks:
  - { name: T, form: F, intakeOpenDate: 2030-02-01, intakeCloseDate: 2030-01-01 }
  - { name: T, form: F, formVersion: 1 }
forms:
  - { name: F, version: 1, fields: [${field}, ${field}] }
  - { name: F, version: 2, fields: [{ key: b, label: B, type: select }] }
`;
    expect(mistakesIn(text).map(({ path }) => path)).toEqual(["forms.1.fields.0.constraints"]);
    const paths = mistakesIn(text.replace("type: select", "type: text")).map(({ path, line }) => `${line} ${path}`);
    expect(paths.toSorted()).toEqual([
      "3 tracks.0.form",
      "3 tracks.0.intakeCloseDate",
      "4 tracks.1.name",
      "6 forms.0.fields.1.key",
    ]);
  });

  test("stays the same when it is formatted and parsed again", () => {
    const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }).filter((each) => each.trim() !== "");
    const { config } = parseProgramConfig(programTemplate);
    fc.assert(
      fc.property(text, text, fc.boolean(), (name, label, required) => {
        const [form] = config.forms;
        const fields = [{ key: "a", label, type: "text", required, sensitivity: "standard", archived: false } as const];
        const changed = {
          ...config,
          program: { ...config.program, name: name.trim(), description: label },
          forms: [{ ...form, name: "Application", fields: [...fields, ...(form?.fields ?? [])] }],
        };
        expect(parseProgramConfig(formatProgramConfig(changed)).config).toEqual(changed);
      }),
      { numRuns: 50 },
    );
  });

  test("of any text is parsed or refused with places in it", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ab:-?[]{}&*!|>'\" \n#%,") }), (text) => {
        for (const { line, column } of mistakesIn(text)) expect([line >= 1, column >= 1]).toEqual([true, true]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a file of people", () => {
  const read = (text: string) => parsePeople(text, ["email", "name"], new Map([["Note", ""]]));

  test("has a separator, a byte order mark and quotation marks as spreadsheets write them", () => {
    const { rows } = read('\ufeffemail;name;Note\r\na@example.org;"Ada; ""A""\nO";x\r\n\r\nb@example.org; Bo ;\r\n');
    expect(rows.map(({ line, values }) => [line, Object.fromEntries(values)])).toEqual([
      [3, { email: "a@example.org", name: 'Ada; "A"\nO' }],
      [5, { email: "b@example.org", name: "Bo" }],
    ]);
  });

  test.each([
    ["nothing", "", 1, "Expected a header"],
    ["an unknown column", "emial,Note\n", 1, "Did you mean email?"],
    ["a column twice", "email,email,Note\n", 1, "Another column"],
    ["a header that --map names missing", "email\n", 1, "--map"],
    ["an open quotation mark", 'email,Note\n"a,b\n', 2, "not closed"],
    ["a quotation mark within a value", 'email,Note\na"b,c\n', 2, "quotation mark"],
    ["a very long row", `email,Note\n${"x".repeat(200_000)},y\n`, 2, "too long"],
    ["too many rows", `email,Note\n${"a,b\n".repeat(10_001)}`, 10_002, "Divide the file"],
  ])("with %s is refused", (_, text, line, message) => {
    const [first] = listMistakes(() => read(text));
    expect([first?.line, first?.message]).toEqual([line, expect.stringContaining(message)]);
  });

  test("reports rows with another number of values than the header", () => {
    const { rows, faults } = read("email,Note\na@example.org\nb@example.org,c\n");
    expect([rows.length, faults.map(({ line }) => line)]).toEqual([1, [2]]);
  });
});
