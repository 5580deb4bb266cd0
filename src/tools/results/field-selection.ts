import type * as z from "zod";
import {
  type AnySchema,
  type Fields,
  getRowSchema,
  getSchemaType,
  visitSchema,
} from "../../contract/definition/schema-visitor.ts";
import { type CallName, operations } from "../../contract/index.ts";
import { LabelledReviewsSummary } from "../../contract/reviews.ts";
import { findNearNames } from "../../lib/did-you-mean.ts";

type Row = Readonly<Record<string, unknown>>;

/** Data of tools that return more than their operation. */
const extendedData: Partial<Readonly<Record<CallName, z.ZodType>>> = {
  get_submission_reviews_summary: LabelledReviewsSummary,
};

/** Returns the schema of a tool's `data`. */
export function getDataSchema(name: CallName): z.ZodType {
  return extendedData[name] ?? operations[name].data;
}

/** Returns the schema of the record that a tool returns, alone or in a list. */
export function getRecordSchema(name: CallName): AnySchema {
  return getRowSchema(getDataSchema(name));
}

/** Returns the names of a record's fields; none for data without declared fields. */
export function listRecordFields(schema: AnySchema): readonly string[] {
  return Object.keys(getRecordFields(schema) ?? {});
}

/** Returns the fields that every selection includes: the record's id, and the version that a change needs. */
export function listRequiredFields(schema: AnySchema): readonly string[] {
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
export function resolveSelection(schema: AnySchema, names: readonly string[]): Selection {
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

function resolvePath(schema: AnySchema, names: readonly string[], before: readonly string[]): ResolvedPath {
  const [name, ...rest] = names;
  if (name === undefined || (name === wholeRecord && rest.length === 0)) return { path: before.join(".") };
  const type = getSchemaType(schema);
  if (type === "array") return resolvePath(getRowSchema(schema), names, before);
  if (type === "record" || type === "unknown") return { path: [...before, ...names].join(".") };
  const fields = getRecordFields(schema);
  const at = before.join(".");
  if (!fields) return { missing: `${at} has no fields of its own.` };
  const fieldNames = Object.keys(fields);
  const near = fieldNames.includes(name) ? [name] : findMeantFields(name, fieldNames);
  const [known = ""] = near;
  const field = fields[known];
  if (field && near.length === 1) return resolvePath(field, rest, [...before, known]);
  const subject = at === "" ? "There are" : `${at} has`;
  return { missing: near.length > 1 ? `Did you mean ${near.join(" or ")}?` : `${subject} ${fieldNames.join(", ")}.` };
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

/** Returns the fields of a record, and of all its forms if there are several. */
function getRecordFields(schema: AnySchema): Fields | undefined {
  return visitSchema<Fields | undefined>(schema, {
    object: (fields) => fields,
    union(options) {
      const merged = new Map<string, AnySchema>();
      for (const option of options) {
        for (const [name, field] of Object.entries(getRecordFields(option) ?? {})) {
          if (!merged.has(name)) merged.set(name, field);
        }
      }
      return merged.size > 0 ? Object.fromEntries(merged) : undefined;
    },
    other: () => undefined,
  });
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
