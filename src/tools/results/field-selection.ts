import * as z from "zod";
import { unwrap } from "../../contract/definition/field-annotations.ts";
import type { Issue } from "../../contract/errors.ts";
import { type CallName, operations } from "../../contract/index.ts";
import { limits } from "../../contract/limits.ts";
import { findSimilar } from "../../lib/did-you-mean.ts";

type Row = Readonly<Record<string, unknown>>;

/** The record that an operation answers with, alone or in rows. */
export function getRecordSchema(name: CallName): z.core.$ZodType {
  const data = unwrap(operations[name].data);
  return data instanceof z.ZodArray ? unwrap(data.element as z.ZodType) : data;
}

/** The fields of a record that every selection keeps: what it is, and the version that a change of it needs. */
export function listKeptFields(schema: z.core.$ZodType): readonly string[] {
  const fields = listFields(schema) ?? [];
  return [fields.find((field) => field.endsWith("Id")), fields.find((field) => field === "version")].filter(
    (field) => field !== undefined,
  );
}

/** What is wrong with dot paths into a record; nothing where all lead somewhere. */
export function findPathIssues(schema: z.core.$ZodType, paths: readonly string[]): Issue[] {
  return paths.flatMap((path, index) => {
    const names = path.split(".");
    const wrong = names.length > limits.maxJsonDepth ? "Deeper than any record" : findMissing(schema, names, []);
    return wrong === undefined ? [] : [{ path: `select.${index}`, code: "unknown_field", message: wrong }];
  });
}

function findMissing(schema: z.core.$ZodType, path: readonly string[], before: readonly string[]): string | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return undefined;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return findMissing(inner.element as z.ZodType, path, before);
  if (inner instanceof z.ZodRecord || inner instanceof z.ZodUnknown) return undefined;
  const fields = listFields(inner);
  const at = [...before, name].join(".");
  if (!fields) return `${before.join(".")} has no fields of its own`;
  const field = getField(inner, name);
  if (field) return findMissing(field, rest, [...before, name]);
  const meant = findSimilar(name, fields);
  return meant
    ? `No field ${at}: did you mean ${[...before, meant].join(".")}?`
    : `No field ${at}; there are ${fields.join(", ")}`;
}

function listFields(schema: z.core.$ZodType): readonly string[] | undefined {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (!(schema instanceof z.ZodUnion)) return undefined;
  const fields = schema.options.flatMap((option) => listFields(unwrap(option)) ?? []);
  return fields.length > 0 ? [...new Set(fields)] : undefined;
}

function getField(schema: z.core.$ZodType, name: string): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodObject) return Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
  if (!(schema instanceof z.ZodUnion)) return undefined;
  return schema.options.map((option) => getField(unwrap(option), name)).find((field) => field !== undefined);
}

/** The parts of a record that dot paths name, through lists, in the record's own order. */
export function pickFields(record: Row, paths: readonly string[]): Row {
  return (pickPart(
    record,
    paths.map((path) => path.split(".")),
  ) ?? {}) as Row;
}

function pickPart(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (value === null || paths.some((path) => path.length === 0)) return value;
  if (Array.isArray(value)) return value.map((item) => pickPart(item, paths)).filter((item) => item !== undefined);
  if (typeof value !== "object") return undefined;
  const wanted = new Map<string, (readonly string[])[]>();
  for (const path of paths) {
    // Names in free-form maps may hold dots themselves.
    const length = path.findLastIndex((_, index) => Object.hasOwn(value, path.slice(0, index + 1).join("."))) + 1;
    const name = path.slice(0, length).join(".");
    if (length > 0) wanted.set(name, [...(wanted.get(name) ?? []), path.slice(length)]);
  }
  const entries = Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
    const below = wanted.get(name);
    const found = below && pickPart(inner, below);
    return found === undefined ? [] : [[name, found]];
  });
  return Object.fromEntries(entries);
}
