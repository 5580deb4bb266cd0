import type * as z from "zod";
import { getInnerSchema, unwrap } from "../contract/definition/field-annotations.ts";
import { PersonFieldIds } from "../contract/definition/fields.ts";
import { limits } from "../contract/limits.ts";
import { findJsonExcess } from "../lib/bounded-json.ts";
import { isObject } from "../lib/is-object.ts";

type Shape = Readonly<Record<string, z.core.$ZodType>>;
type Values = Readonly<Record<string, unknown>>;

export interface CoercedArguments {
  readonly args: Values;
  /** What was read otherwise than it was written, a sentence each. */
  readonly notes: readonly string[];
}

/**
 * Reads arguments the way models tend to miswrite them: JSON as text, numbers and booleans as text, null for absent,
 * one value for a list, a comma list for a list and the reverse, names in another style. What fits is never altered,
 * nor is anything inside free-form maps; what cannot be read is left for the gate to refuse.
 */
export function coerceArguments(shape: Shape, args: Values): CoercedArguments {
  const notes: string[] = [];
  return { args: coerceObject(shape, args, "", notes), notes };
}

function coerceObject(shape: Shape, values: Values, path: string, notes: string[]): Values {
  const given = matchNames(shape, values, path, notes);
  const entries = Object.entries(given).map(([name, value]): [string, unknown] => {
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined;
    return [name, schema ? read(schema, value, joinPath(path, name), notes) : value];
  });
  return entries.every(([name, value]) => value === given[name]) ? given : Object.fromEntries(entries);
}

/** More names than these in one object are no near misses. */
const maxNames = 100;

/** The values under the names that they are meant for, without those that only say that nothing is given. */
function matchNames(shape: Shape, values: Values, path: string, notes: string[]): Values {
  if (Object.entries(values).every(([name, value]) => value !== null && Object.hasOwn(shape, name))) return values;
  const result = new Map(Object.entries(values));
  if (result.size > maxNames) return values;
  // Until nothing changes: a value that is left out may free the name that another is meant for.
  for (let before = -1; before !== notes.length; ) {
    before = notes.length;
    for (const [name, value] of result) {
      const meant = Object.hasOwn(shape, name) ? name : findIntendedName(name, shape, result);
      if (meant === undefined) continue;
      const absent = value === null && !acceptsValue(shape[meant] as z.core.$ZodType, null);
      if (meant === name && !absent) continue;
      result.delete(name);
      if (!absent) result.set(meant, value);
      const at = joinPath(path, name.slice(0, 100));
      notes.push(absent ? `${at}: null was read as absent.` : `${at} was read as ${joinPath(path, meant)}.`);
    }
  }
  return Object.fromEntries(result);
}

function joinPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** The name that a near miss stands for, unless it is given too or the miss could be for several. */
function findIntendedName(name: string, shape: Shape, given: ReadonlyMap<string, unknown>): string | undefined {
  const free = Object.keys(shape).filter((known) => !given.has(known));
  const alike = free.filter((known) => normalizeName(known) === normalizeName(name));
  if (alike.length === 1) return alike[0];
  if (normalizeName(name) !== "id") return undefined;
  const ids = free.filter((known) => known.endsWith("Id") && !acceptsValue(shape[known] as z.core.$ZodType, undefined));
  return ids.length === 1 ? ids[0] : undefined;
}

/** A name without what styles and spellings of English differ in: `programme_id`, `programID` and `programId` are one. */
function normalizeName(name: string): string {
  return name
    .slice(0, 100)
    .toLowerCase()
    .replaceAll(/[_\s-]/g, "")
    .replaceAll("programme", "program");
}

function read(schema: z.core.$ZodType, value: unknown, path: string, notes: string[]): unknown {
  if (isCommaList(schema)) return Array.isArray(value) ? joinValues(value, path, notes) : value;
  const definition = unwrap(schema)._zod.def as { type: string; shape?: Shape; element?: z.core.$ZodType };
  switch (definition.type) {
    case "number":
      return coerceNumber(value, path, notes);
    case "boolean":
      return coerceBoolean(value, path, notes);
    case "object": {
      const found = parseJsonText(value, isObject, "an object", path, notes);
      return isObject(found) && definition.shape ? coerceObject(definition.shape, found, path, notes) : found;
    }
    case "record":
      return parseJsonText(value, isObject, "an object", path, notes);
    case "array":
      return definition.element ? list(definition.element, value, path, notes) : value;
    default:
      return value;
  }
}

function coerceNumber(value: unknown, path: string, notes: string[]): unknown {
  if (typeof value !== "string" || !/^-?\d{1,15}$/.test(value.trim())) return value;
  notes.push(`${path}: the text was read as a number.`);
  return Number(value);
}

function coerceBoolean(value: unknown, path: string, notes: string[]): unknown {
  const meant = typeof value === "string" ? value.trim().toLowerCase() : undefined;
  if (meant !== "true" && meant !== "false") return value;
  notes.push(`${path}: the text was read as true or false.`);
  return meant === "true";
}

function list(element: z.core.$ZodType, value: unknown, path: string, notes: string[]): unknown {
  const found = parseJsonText(value, Array.isArray, "a list", path, notes);
  const items = Array.isArray(found) ? found : coerceItems(element, found, path, notes);
  return Array.isArray(items) ? items.map((item, index) => read(element, item, `${path}.${index}`, notes)) : items;
}

/** One value where a list is meant, or several of them separated by commas. */
function coerceItems(element: z.core.$ZodType, value: unknown, path: string, notes: string[]): unknown {
  if (value === undefined || value === null) return value;
  const { type } = unwrap(element)._zod.def;
  if (typeof value !== "string" || !value.includes(",") || !(type === "string" || type === "enum")) {
    notes.push(`${path}: the single value was read as a list.`);
    return [value];
  }
  const items = value.split(",").map((item) => item.trim());
  // A comma between words may belong to one text; between names without blanks it separates.
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

/** The value of a JSON text where something else than text is meant. */
function parseJsonText(
  value: unknown,
  fits: (value: unknown) => boolean,
  as: string,
  path: string,
  notes: string[],
): unknown {
  if (typeof value !== "string" || findJsonExcess(Buffer.from(value), bounds)) return value;
  try {
    const found: unknown = JSON.parse(value);
    if (!fits(found)) return value;
    notes.push(`${path}: the JSON text was read as ${as}.`);
    return found;
  } catch {
    return value;
  }
}

function acceptsValue(schema: z.core.$ZodType, value: unknown): boolean {
  return (schema as z.ZodType).safeParse(value).success;
}

function isCommaList(schema: z.core.$ZodType): boolean {
  if (schema === PersonFieldIds) return true;
  const inner = getInnerSchema(schema);
  return inner !== undefined && isCommaList(inner);
}
