import type * as z from "zod";
import { type AnySchema, getSchemaType, listWrappers } from "../../contract/definition/schema-visitor.ts";

type Kind = "scalar" | "boolean" | "json";

interface Column {
  readonly name: string;
  readonly kind: Kind;
  /** Null in the database is an absent property. */
  readonly optional: boolean;
  /** The database may hold null. */
  readonly nullable: boolean;
}

export type Stored = string | number | null;
export type StoredRow = Readonly<Record<string, unknown>>;

/** Converts records to column values and back: scalars unchanged, booleans as 0 and 1, the rest as JSON. */
export interface Codec<Row> {
  readonly columns: readonly Column[];
  readonly names: readonly string[];
  /** Returns the stored values in the order of `names`. */
  encode(row: Row): Stored[];
  decode(stored: StoredRow): Row;
  /** Returns the record of the stored values in the order of `names`. */
  decodeTuple(stored: readonly unknown[]): Row;
  encodeValue(name: string, value: unknown): Stored;
  /** Returns one decoded value, or `undefined` for an absent one. */
  decodeValue(name: string, stored: unknown): unknown;
}

export function createCodec<Record_ extends z.ZodObject>(record: Record_): Codec<z.output<Record_>> {
  const columns = Object.entries(record.shape).map(([name, schema]) => toColumn(name, schema));
  const byName = new Map(columns.map((column) => [column.name, column]));
  const findColumn = (name: string) => {
    const column = byName.get(name);
    if (!column) throw new Error(`No column ${name}`);
    return column;
  };
  const decodeTuple = (stored: readonly unknown[]) => {
    const row: Record<string, unknown> = {};
    for (let index = 0; index < columns.length; index++) {
      const { name, kind, optional } = columns[index] as Column;
      const value = stored[index];
      if (kind === "scalar" || value === null) {
        if (value !== null || !optional) row[name] = value;
      } else row[name] = decode(kind, value);
    }
    return row as z.output<Record_>;
  };
  return {
    columns,
    names: columns.map((column) => column.name),
    encode: (row) => columns.map((column) => encode(column.kind, row[column.name])),
    decode: (stored) => decodeTuple(columns.map((column) => stored[column.name])),
    decodeTuple,
    encodeValue: (name, value) => encode(findColumn(name).kind, value),
    decodeValue(name, stored) {
      const { kind, optional } = findColumn(name);
      if (stored === null) return optional ? undefined : null;
      return decode(kind, stored);
    },
  };
}

function encode(kind: Kind, value: unknown): Stored {
  if (value === undefined || value === null) return null;
  if (kind === "boolean") return value ? 1 : 0;
  return kind === "json" ? JSON.stringify(value) : (value as Stored);
}

function decode(kind: Kind, stored: unknown): unknown {
  if (kind === "boolean") return stored === 1;
  return kind === "json" ? JSON.parse(stored as string) : stored;
}

const scalarTypes = new Set(["string", "number", "enum", "literal"]);

function toColumn(name: string, schema: AnySchema): Column {
  const type = getSchemaType(schema);
  const wrappers = listWrappers(schema);
  const nullable = wrappers.includes("nullable");
  return {
    name,
    kind: type === "boolean" ? "boolean" : scalarTypes.has(type) ? "scalar" : "json",
    optional: wrappers.includes("optional") && !nullable,
    nullable: nullable || wrappers.includes("optional"),
  };
}
