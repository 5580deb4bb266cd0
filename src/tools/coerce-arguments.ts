import type * as z from "zod";
import { limits } from "../contract/access/limits.ts";
import { PersonFieldIds } from "../contract/definition/fields.ts";
import { createSchemaCache } from "../contract/definition/schema-cache.ts";
import {
  type AnySchema,
  type Fields,
  getInnerSchema,
  getSchemaType,
  visitSchema,
} from "../contract/definition/schema-visitor.ts";
import { findJsonExcess } from "../lib/bounded-json.ts";
import { mapProperties } from "../lib/collections/map-properties.ts";
import { isObject } from "../lib/json-value.ts";

type Values = Readonly<Record<string, unknown>>;

export interface CoercedArguments {
  readonly args: Values;
  /** Notes on values that were read differently from how they were written. */
  readonly notes: readonly string[];
}

/**
 * Coerces arguments that models often write wrongly: JSON as text, numbers and booleans as text, null for absent, one
 * value for a list, comma lists for lists and the reverse, names and choices in another style. Values that fit stay as
 * they are, also inside free-form maps. Values that cannot be coerced are left for validation to reject.
 */
export function coerceArguments(shape: Fields, args: Values): CoercedArguments {
  const notes: string[] = [];
  return { args: coerceObject(shape, args, "", notes), notes };
}

function coerceObject(shape: Fields, values: Values, path: string, notes: string[]): Values {
  const named = matchNames(shape, values, path, notes);
  return mapProperties(named, (value, name) => {
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined;
    return schema ? getCoercion(schema)(value, joinPath(path, name), notes) : value;
  });
}

/** Objects with more names are not near misses of a declared shape. */
const maxNames = 100;

/** Returns the values under the names they are intended for, without nulls that mean absent. */
function matchNames(shape: Fields, values: Values, path: string, notes: string[]): Values {
  if (Object.keys(values).every((name) => values[name] !== null && Object.hasOwn(shape, name))) return values;
  const result = new Map(Object.entries(values));
  if (result.size > maxNames) return values;
  // Repeats until nothing changes: removing a value may free the name that another one is intended for.
  for (let before = -1; before !== notes.length; ) {
    before = notes.length;
    for (const [name, value] of result) {
      const intended = Object.hasOwn(shape, name) ? name : findIntendedName(name, shape, result);
      if (intended === undefined) continue;
      const absent = value === null && !acceptsValue(shape[intended] as AnySchema, null);
      if (intended === name && !absent) continue;
      result.delete(name);
      if (!absent) result.set(intended, value);
      const at = joinPath(path, name.slice(0, 100));
      notes.push(absent ? `${at}: null was read as absent.` : `${at} was read as ${joinPath(path, intended)}.`);
    }
  }
  return Object.fromEntries(result);
}

function joinPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** Returns the declared name that a misspelt one is intended for, unless that one is present too or several match. */
function findIntendedName(name: string, shape: Fields, named: ReadonlyMap<string, unknown>): string | undefined {
  const free = Object.keys(shape).filter((declared) => !named.has(declared));
  const similar = free.filter((declared) => normalizeName(declared) === normalizeName(name));
  if (similar.length === 1) return similar[0];
  if (normalizeName(name) !== "id") return undefined;
  const ids = free.filter(
    (declared) => declared.endsWith("Id") && !acceptsValue(shape[declared] as AnySchema, undefined),
  );
  return ids.length === 1 ? ids[0] : undefined;
}

/** Normalises style and spelling of a name: `programme_id`, `programID` and `programId` are equal. */
function normalizeName(name: string): string {
  return name
    .slice(0, 100)
    .toLowerCase()
    .replaceAll(/[_\s-]/g, "")
    .replaceAll("programme", "program");
}

type Coercion = (value: unknown, path: string, notes: string[]) => unknown;

const getCoercion = createSchemaCache(compileCoercion);

function compileCoercion(schema: AnySchema): Coercion {
  if (isCommaList(schema))
    return (value, path, notes) => (Array.isArray(value) ? joinValues(value, path, notes) : value);
  const parseObject: Coercion = (value, path, notes) => parseJsonText(value, isObject, "an object", path, notes);
  return visitSchema<Coercion>(schema, {
    number: () => coerceNumber,
    boolean: () => coerceBoolean,
    enum: (choices) => (value, path, notes) => coerceChoice(choices, value, path, notes),
    object: (fields) => (value, path, notes) => {
      const parsed = parseObject(value, path, notes);
      return isObject(parsed) ? coerceObject(fields, parsed, path, notes) : parsed;
    },
    record: () => parseObject,
    array: (element) => (value, path, notes) => coerceList(element, value, path, notes),
    other: () => (value) => value,
  });
}

function coerceNumber(value: unknown, path: string, notes: string[]): unknown {
  if (typeof value !== "string" || !/^-?\d{1,15}$/.test(value.trim())) return value;
  notes.push(`${path}: the text was read as a number.`);
  return Number(value);
}

function coerceBoolean(value: unknown, path: string, notes: string[]): unknown {
  const intended = typeof value === "string" ? value.trim().toLowerCase() : undefined;
  if (intended !== "true" && intended !== "false") return value;
  notes.push(`${path}: the text was read as true or false.`);
  return intended === "true";
}

/** Reads `in review` as `IN_REVIEW`: letter case, blanks and hyphens do not distinguish choices. */
function coerceChoice(choices: readonly string[], value: unknown, path: string, notes: string[]): unknown {
  if (typeof value !== "string" || choices.includes(value)) return value;
  const [intended, ...others] = choices.filter((choice) => normalizeName(choice) === normalizeName(value.trim()));
  if (intended === undefined || others.length > 0) return value;
  notes.push(`${path}: the text was read as ${intended}.`);
  return intended;
}

function coerceList(element: AnySchema, value: unknown, path: string, notes: string[]): unknown {
  const parsed = parseJsonText(value, Array.isArray, "a list", path, notes);
  const items = Array.isArray(parsed) ? parsed : coerceItems(element, parsed, path, notes);
  return Array.isArray(items)
    ? items.map((item, index) => getCoercion(element)(item, `${path}.${index}`, notes))
    : items;
}

/** Converts a single value, or several separated by commas, to a list. */
function coerceItems(element: AnySchema, value: unknown, path: string, notes: string[]): unknown {
  if (value === undefined || value === null) return value;
  const type = getSchemaType(element);
  if (typeof value !== "string" || !value.includes(",") || !(type === "string" || type === "enum")) {
    notes.push(`${path}: the single value was read as a list.`);
    return [value];
  }
  const items = value.split(",").map((item) => item.trim());
  // A comma between words may belong to one text. Between names without blanks it is a separator.
  if (!items.every((item) => /^\S+$/.test(item))) return value;
  notes.push(`${path}: the commas were read as separating a list.`);
  return items;
}

function joinValues(values: readonly unknown[], path: string, notes: string[]): unknown {
  if (values.length === 0 || !values.every((value) => typeof value === "string" && !value.includes(","))) return values;
  notes.push(`${path}: the list was joined with commas.`);
  return values.join(",");
}

const bounds = { maxDepth: limits.maxJsonDepth, maxValues: limits.maxJsonValues };

/** Parses JSON text for a parameter that is not text. */
function parseJsonText(
  value: unknown,
  fits: (value: unknown) => boolean,
  as: string,
  path: string,
  notes: string[],
): unknown {
  if (typeof value !== "string" || findJsonExcess(Buffer.from(value), bounds)) return value;
  try {
    const parsed: unknown = JSON.parse(value);
    if (!fits(parsed)) return value;
    notes.push(`${path}: the JSON text was read as ${as}.`);
    return parsed;
  } catch {
    return value;
  }
}

function acceptsValue(schema: AnySchema, value: unknown): boolean {
  return (schema as z.ZodType).safeParse(value).success;
}

function isCommaList(schema: AnySchema): boolean {
  if (schema === PersonFieldIds) return true;
  const inner = getInnerSchema(schema);
  return inner !== undefined && isCommaList(inner);
}
