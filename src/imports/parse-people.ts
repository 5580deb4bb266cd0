import { CsvError, parse } from "csv-parse/sync";
import { peopleLimits } from "../contract/set-up/people.ts";
import type { Mistake } from "../contract/set-up/set-up-plan.ts";
import { suggestWord } from "../lib/did-you-mean.ts";
import { InvalidImport } from "./mistakes.ts";

/** A row of a file: its values by the columns that they fill. Empty values are left out. */
export interface PeopleRow {
  readonly line: number;
  readonly values: ReadonlyMap<string, string>;
}

export interface PeopleTable {
  /** The names of its columns. */
  readonly names: readonly string[];
  readonly rows: readonly PeopleRow[];
  /** Rows with too few or too many values. */
  readonly faults: readonly Mistake[];
  /** Returns the number of the column that fills an argument, from 1, and its header. */
  findColumn(name: string): { readonly column: number; readonly header: string };
}

/** Columns that the operator left out with `--map "Header="`. */
const ignored = "";

/**
 * Parses CSV with a header. The separator is the comma, semicolon or tab that the header has most of.
 * @param known - the names of columns that can be filled
 * @param renamed - the names of columns by the header that stands for them; an empty name leaves a column out
 * @throws InvalidImport when the text is not CSV, or a header stands for nothing
 */
export function parsePeople(text: string, known: readonly string[], renamed: ReadonlyMap<string, string>): PeopleTable {
  const [head, ...records] = readRecords(text);
  if (!head)
    throw new InvalidImport([{ path: "", code: "required", message: "Expected a header", line: 1, column: 1 }]);
  const headers = head.record.map((header) => header.trim());
  const names = headers.map((header) => renamed.get(header) ?? header);
  const wrong = listHeaderFaults(headers, names, known, renamed);
  if (wrong.length > 0) throw new InvalidImport(wrong);
  const complete = records.filter(({ record }) => record.length === headers.length);
  const faults = records.flatMap(({ record, line }) => {
    if (record.length === headers.length) return [];
    const message = `Expected ${headers.length} values, as in the header, not ${record.length}`;
    return [{ path: "", code: "invalid_row", message, line, column: 1 }];
  });
  return {
    names,
    rows: complete.map(({ record, line }) => ({ line, values: toValues(names, record) })),
    faults,
    findColumn(name) {
      const index = name === ignored ? -1 : names.indexOf(name);
      return { column: Math.max(0, index) + 1, header: headers[index] ?? name };
    },
  };
}

function toValues(names: readonly string[], record: readonly string[]): Map<string, string> {
  const values = names.map((name, index) => [name, (record[index] ?? "").trim()] as const);
  return new Map(values.filter(([name, value]) => name !== ignored && value !== ""));
}

interface CsvRecord {
  readonly record: readonly string[];
  readonly line: number;
}

function readRecords(text: string): CsvRecord[] {
  const [firstLine = ""] = text.split("\n", 1);
  const counts = [",", ";", "\t"].map((delimiter) => ({ delimiter, count: firstLine.split(delimiter).length }));
  const delimiter = counts.toSorted((one, other) => other.count - one.count)[0]?.delimiter ?? ",";
  try {
    const records = parse(text, {
      ...{ bom: true, delimiter, info: true, relaxColumnCount: true, skipEmptyLines: true },
      maxRecordSize: 100_000,
      to: peopleLimits.rows + 2,
    }) as unknown as { record: string[]; info: { lines: number } }[];
    if (records.length <= peopleLimits.rows + 1)
      return records.map(({ record, info }) => ({ record, line: info.lines }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error["lines"] === "number" ? error["lines"] : 1;
    throw new InvalidImport([
      { path: "", code: "invalid_csv", message: describeCsvError(error.code), line, column: 1 },
    ]);
  }
  const message = `Expected at most ${peopleLimits.rows} rows. Divide the file`;
  throw new InvalidImport([{ path: "", code: "too_big", message, line: peopleLimits.rows + 2, column: 1 }]);
}

/** Describes an error without the values of the file. */
function describeCsvError(code: string): string {
  const known: Readonly<Record<string, string>> = {
    CSV_QUOTE_NOT_CLOSED: "A quotation mark is not closed",
    CSV_MAX_RECORD_SIZE: "The row is too long",
  };
  return known[code] ?? "A quotation mark stands within a value. Double it, and put the value in quotation marks";
}

function listHeaderFaults(
  headers: readonly string[],
  names: readonly string[],
  known: readonly string[],
  renamed: ReadonlyMap<string, string>,
): Mistake[] {
  const absent = [...renamed.keys()].filter((header) => !headers.includes(header));
  const unmapped = absent.map((header) => ({ message: `--map: the file has no column ${header}`, column: 1 }));
  const faults = names.flatMap((name, index) => {
    const column = index + 1;
    if (name === ignored) return [];
    if (names.indexOf(name) !== index) return [{ message: `Another column stands for ${name}`, column }];
    if (known.includes(name)) return [];
    const listed = known.filter((each) => !each.includes("."));
    const hint = suggestWord(name, listed) || ` Expected one of ${listed.join(", ")}.`;
    const advice = ` Name the column with --map "${headers[index]}=…", or leave it out with --map "${headers[index]}="`;
    return [{ message: `${JSON.stringify(name)} is not a column.${hint}${advice}`, column }];
  });
  return [...unmapped, ...faults].map((fault) => ({ ...fault, path: "", code: "unrecognized_keys", line: 1 }));
}
