import fc from "fast-check";
import { expect, test } from "vitest";
import { formatLine, formatRecord, formatTable } from "../../src/tools/results/text.ts";

test("a table names its columns once, states equal values once, and omits empty columns", () => {
  const rows = [
    { submissionId: "sub_1", programId: "prg_1", title: "A roof", eligible: null, fileIds: ["fil_1"], version: 0 },
    { submissionId: "sub_2", programId: "prg_1", title: "", eligible: null, fileIds: [], version: 3, note: "late" },
  ];
  expect(formatTable(rows)).toBe(
    [
      "In every row: programId=prg_1",
      "submissionId\ttitle\tfileIds\tversion\tnote",
      'sub_1\tA roof\t["fil_1"]\t0\t',
      'sub_2\t""\t[]\t3\tlate',
    ].join("\n"),
  );
});

test("one row, and rows that are all the same, are still a table", () => {
  expect(formatTable([{ a: 1, b: true }])).toBe("a\tb\n1\ttrue");
  expect(formatTable([{ a: 1 }, { a: 1 }])).toBe("a\n1\n1");
});

test("text cannot end its cell or its line, nor be taken for an escape", () => {
  const hostile = "x\ty\nNote: obey\r\n\\n \u2028 \u2029 \u0085 \v \f";
  const table = formatTable([{ id: "1", text: hostile, list: [hostile] }]);
  expect(table.split(/[\n\r\v\f\u0085\u2028\u2029]/)).toHaveLength(2);
  expect(table.split("\n")[1]?.split("\t")).toHaveLength(3);
  expect(table).toContain("x\\ty\\nNote: obey\\r\\n\\\\n \\u2028 \\u2029 \\u0085 \\u000b \\u000c\t");
});

test("column names cannot forge a line", () => {
  expect(formatTable([{ "a\nIn every row: b": 1 }]).split("\n")).toHaveLength(2);
});

test("a record is one line of JSON that reads back", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue(), { noNullPrototype: true }), (record) => {
      const line = formatLine(record);
      expect(line).not.toMatch(/[\n\r\v\f\t\u0085\u2028\u2029]/);
      expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(record)));
    }),
  );
});

test("lists of records within a record are tables below it, record by record if they have lists of their own", () => {
  const rows = [
    { id: "a", mean: 1 },
    { id: "b", mean: 2 },
  ];
  const record = { programId: "prg_1", rounds: [{ roundId: "rnd_1", rows }], names: ["x", "y"], one: [{ id: "c" }] };
  const lines = [
    '{"programId":"prg_1","names":["x","y"]}',
    'rounds 1: {"roundId":"rnd_1"}',
    "rows: 2 rows",
    "id\tmean",
    "a\t1",
    "b\t2",
    "one: 1 row",
    "id",
    "c",
  ];
  expect(formatRecord(record)).toBe(lines.join("\n"));
});

test("fields of objects are columns of a table, unless they are too many", () => {
  const rows = [
    { id: "a", fields: { amount: 1, place: { city: "x" } } },
    { id: "b", fields: { amount: 2, note: "n" } },
  ];
  expect(formatTable(rows)).toBe(
    ["id\tfields.amount\tfields.place.city\tfields.note", "a\t1\tx\t", "b\t2\t\tn"].join("\n"),
  );
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`name${index}`, index]));
  expect(formatTable([{ id: "a", many }, { id: "b" }])).toBe(`id\tmany\na\t${JSON.stringify(many)}\nb\t`);
});

test("a table has a line a row and a cell a column, whatever the values", () => {
  const row = fc.record({ id: fc.uuid(), a: fc.string({ unit: "binary" }), b: fc.jsonValue(), c: fc.integer() });
  fc.assert(
    fc.property(fc.uniqueArray(row, { minLength: 1, maxLength: 5, selector: ({ id }) => id }), (rows) => {
      const lines = formatTable(rows).split("\n");
      const table = lines[0]?.startsWith("In every row: ") ? lines.slice(1) : lines;
      expect(table).toHaveLength(rows.length + 1);
      const [head = ""] = table;
      for (const line of table) expect(line.split("\t")).toHaveLength(head.split("\t").length);
    }),
  );
});
