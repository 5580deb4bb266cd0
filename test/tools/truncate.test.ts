import fc from "fast-check";
import { expect, test } from "vitest";
import { measureJsonBytes, measureRows } from "../../src/lib/json-cache.ts";
import { truncateRecord } from "../../src/tools/results/truncate.ts";

test("as many rows are kept as fit the byte limit exactly", () => {
  const rows = [{ a: "é" }, { a: "bb" }, { a: "c" }];
  const size = measureJsonBytes(rows.slice(0, 2));
  expect(Buffer.byteLength('[{"a":"é"},{"a":"bb"}]')).toBe(size);
  expect(measureRows(rows, size).count).toBe(2);
  expect(measureRows(rows, size - 1).count).toBe(1);
  expect(measureRows(rows, 3).count).toBe(0);
  expect(measureRows([], 3).count).toBe(0);
});

test("the largest fields are omitted, and a field selected alone is complete", () => {
  const record = { id: "sub_1", body: "b".repeat(700), small: "s", notes: "n".repeat(500), version: 2 };
  const { record: fitted, omitted, shortened } = truncateRecord(record, ["id", "version"], 1000);
  expect(fitted).toEqual({ id: "sub_1", small: "s", notes: record.notes, version: 2 });
  expect(Object.keys(fitted)).toEqual(["id", "small", "notes", "version"]);
  expect({ omitted, shortened }).toEqual({ omitted: ["body"], shortened: [] });
  const alone = { id: "sub_1", body: record.body, version: 2 };
  expect(truncateRecord(alone, ["id", "version"], 1000)).toEqual({ record: alone, omitted: [], shortened: [] });
});

test.each([
  ["body", "é".repeat(5000), /^body: the first (\d+) of 5000 characters are shown\.$/],
  ["rows", Array.from({ length: 500 }, (_, row) => ({ row })), /^rows: the first (\d+) of 500 are shown\.$/],
])("%s that does not fit alone is shortened, with a note of its full size", (name, value, note) => {
  const { record, omitted, shortened } = truncateRecord({ id: "sub_1", [name]: value, version: 1 }, ["id"], 2000);
  expect(measureJsonBytes(record)).toBeLessThanOrEqual(2000);
  expect(measureJsonBytes(record)).toBeGreaterThan(1700);
  expect(record).toMatchObject({ id: "sub_1", version: 1 });
  expect(omitted).toEqual([]);
  expect(shortened).toEqual([expect.stringMatching(note)]);
  const shown = record[name] as string | unknown[];
  expect(shown).toEqual(value.slice(0, shown.length));
  expect(shortened[0]).toContain(`first ${shown.length} of`);
});

test("omitted nested fields are named by their path", () => {
  const record = { id: "sub_1", fields: { a: "a".repeat(600), b: "b".repeat(700), c: "c".repeat(5000) } };
  const { record: fitted, omitted, shortened } = truncateRecord(record, ["id"], 1000);
  expect(measureJsonBytes(fitted)).toBeLessThanOrEqual(1000);
  expect(omitted).toEqual(["fields.b"]);
  expect(shortened).toEqual([expect.stringMatching(/^fields\.c: the first \d+ of 5000 characters are shown\.$/)]);
});

test("a cut never leaves half a character", () => {
  for (let bytes = 40; bytes < 60; bytes += 1) {
    const { record } = truncateRecord({ text: "🏛".repeat(100) }, [], bytes);
    expect(String(record["text"] ?? "").isWellFormed()).toBe(true);
  }
});

test("any record is made to fit, keeps its protected fields, and reports each omission", () => {
  const big = fc.string({ minLength: 0, maxLength: 400, unit: "grapheme" });
  const value = fc.oneof(
    big,
    fc.array(big, { maxLength: 10 }),
    fc.dictionary(fc.string({ maxLength: 5 }), big),
    fc.integer(),
  );
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), value),
      fc.integer({ min: 300, max: 4000 }),
      (fields, max) => {
        const record = { ...fields, id: "sub_1", version: 1 };
        const { record: fitted, omitted, shortened } = truncateRecord(record, ["id", "version"], max);
        expect(measureJsonBytes(fitted)).toBeLessThanOrEqual(max);
        expect(fitted).toMatchObject({ id: "sub_1", version: 1 });
        if (omitted.length + shortened.length === 0) expect(fitted).toEqual(record);
        for (const name of Object.keys(record)) {
          const note = [...omitted, ...shortened].some((loss) => loss.startsWith(name));
          if (!note) expect(fitted[name]).toEqual(record[name as keyof typeof record]);
        }
      },
    ),
  );
});
