import * as z from "zod";
import { limits } from "../../contract/access/limits.ts";
import { unwrap } from "../../contract/definition/field-annotations.ts";
import type { Issue } from "../../contract/errors.ts";
import { type CallName, operations } from "../../contract/index.ts";
import { findSimilar } from "../../lib/did-you-mean.ts";

type Row = Readonly<Record<string, unknown>>;

/** Returns the schema of the record that an operation returns, alone or in a list. */
export function getRecordSchema(name: CallName): z.core.$ZodType {
  const data = unwrap(operations[name].data);
  return data instanceof z.ZodArray ? unwrap(data.element as z.ZodType) : data;
}

/** Returns the fields that every selection includes: the record's id, and the version that a change needs. */
export function listRequiredFields(schema: z.core.$ZodType): readonly string[] {
  const fields = listFields(schema) ?? [];
  return [fields.find((field) => field.endsWith("Id")), fields.find((field) => field === "version")].filter(
    (field) => field !== undefined,
  );
}

/** Returns the issues of dot paths that do not exist in a record. */
export function findPathIssues(schema: z.core.$ZodType, paths: readonly string[]): Issue[] {
  return paths.flatMap((path, index) => {
    const names = path.split(".");
    const message = names.length > limits.maxJsonDepth ? "Deeper than any record" : findMissing(schema, names, []);
    return message === undefined ? [] : [{ path: `select.${index}`, code: "unknown_field", message: message }];
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
  const suggestion = findSimilar(name, fields);
  return suggestion
    ? `No field ${at}: did you mean ${[...before, suggestion].join(".")}?`
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

/** Returns the parts of a record that dot paths select, also inside lists, in the record's order. */
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
  const pathsByName = new Map<string, (readonly string[])[]>();
  for (const path of paths) {
    // Names in free-form maps may contain dots.
    const length = path.findLastIndex((_, index) => Object.hasOwn(value, path.slice(0, index + 1).join("."))) + 1;
    const name = path.slice(0, length).join(".");
    if (length > 0) pathsByName.set(name, [...(pathsByName.get(name) ?? []), path.slice(length)]);
  }
  const entries = Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
    const innerPaths = pathsByName.get(name);
    const picked = innerPaths && pickPart(inner, innerPaths);
    return picked === undefined ? [] : [[name, picked]];
  });
  return Object.fromEntries(entries);
}
