import * as z from "zod";
import { unwrap } from "../../contract/definition/field-annotations.ts";
import { type CallName, operations } from "../../contract/index.ts";
import { findNearNames } from "../../lib/did-you-mean.ts";

type Row = Readonly<Record<string, unknown>>;

/** Returns the schema of the record that an operation returns, alone or in a list. */
export function getRecordSchema(name: CallName): z.core.$ZodType {
  const data = unwrap(operations[name].data);
  return data instanceof z.ZodArray ? unwrap(data.element as z.ZodType) : data;
}

/** Returns the names of a record's fields; none for data without declared fields. */
export function listRecordFields(schema: z.core.$ZodType): readonly string[] {
  return listFields(schema) ?? [];
}

/** Returns the fields that every selection includes: the record's id, and the version that a change needs. */
export function listRequiredFields(schema: z.core.$ZodType): readonly string[] {
  const fields = listRecordFields(schema);
  return [fields.find((field) => field.endsWith("Id")), fields.find((field) => field === "version")].filter(
    (field) => field !== undefined,
  );
}

/** The fields that a caller selects. */
export interface Selection {
  /** Dot paths that exist; `undefined` for whole records. */
  readonly paths: readonly string[] | undefined;
  /** Notes on names that do not exist or were read as others. */
  readonly notes: readonly string[];
}

/** Selects whole records. */
const wholeRecord = "*";

/**
 * Resolves the names that a caller selects to dot paths of a record: `id` is the record's own id, other unknown names are
 * read as the field next to them if there is only one. Names that remain unknown are noted.
 */
export function resolveSelection(schema: z.core.$ZodType, names: readonly string[]): Selection {
  if (names.includes(wholeRecord)) return { paths: undefined, notes: [] };
  const resolved = names.map((name) => ({ name, ...resolvePath(schema, name.split("."), []) }));
  const readAs = resolved.flatMap(({ name, path }) => (path && path !== name ? [`${quoteName(name)} as ${path}`] : []));
  const unknown = resolved.flatMap(({ name, missing }) => (missing ? [{ name: quoteName(name), missing }] : []));
  const byAdvice = Map.groupBy(unknown, ({ missing }) => missing);
  return {
    paths: resolved.flatMap(({ path }) => path ?? []),
    notes: [
      ...(readAs.length > 0 ? [`select was read: ${readAs.join(", ")}.`] : []),
      ...[...byAdvice].map(
        ([advice, fields]) => `select has unknown names: ${fields.map(({ name }) => name).join(", ")}. ${advice}`,
      ),
    ],
  };
}

interface ResolvedPath {
  readonly path?: string;
  /** Advice for a name that does not exist. */
  readonly missing?: string;
}

function resolvePath(schema: z.core.$ZodType, names: readonly string[], before: readonly string[]): ResolvedPath {
  const [name, ...rest] = names;
  if (name === undefined || (name === wholeRecord && rest.length === 0)) return { path: before.join(".") };
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return resolvePath(inner.element as z.ZodType, names, before);
  if (inner instanceof z.ZodRecord || inner instanceof z.ZodUnknown) return { path: [...before, ...names].join(".") };
  const fields = listFields(inner);
  const at = before.join(".");
  if (!fields) return { missing: `${at} has no fields of its own.` };
  const near = fields.includes(name) ? [name] : findMeantFields(name, fields);
  const [known] = near;
  if (known !== undefined && near.length === 1)
    return resolvePath(getField(inner, known) as z.core.$ZodType, rest, [...before, known]);
  const subject = at === "" ? "There are" : `${at} has`;
  return { missing: near.length > 1 ? `Did you mean ${near.join(" or ")}?` : `${subject} ${fields.join(", ")}.` };
}

function findMeantFields(name: string, fields: readonly string[]): readonly string[] {
  const ownId = fields.find((field) => field.endsWith("Id"));
  return name.toLowerCase() === "id" && ownId ? [ownId] : findNearNames(name, fields);
}

/** Shortens an unknown name, which may be anything. */
function quoteName(name: string): string {
  return name.length > maxNameChars ? `${name.slice(0, maxNameChars).replace(/[\ud800-\udbff]$/, "")}…` : name;
}

const maxNameChars = 60;

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
