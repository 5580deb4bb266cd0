import { limits } from "../contract/access/limits.ts";
import { CalendarDate } from "../contract/definition/fields.ts";
import type { Issue } from "../contract/errors.ts";
import type { ApplicationField, Constraints } from "../contract/schemas.ts";
import { createPatternMatcher } from "./pattern.ts";
import { createFieldSuggester } from "./unknown-fields.ts";

/** A field of a form or of the person custom-field schema. */
export type FieldDefinition = ApplicationField;

const maxIdLength = 255;
/** Bounds the size of an error response. */
const maxIssues = 50;

/**
 * Checks values against field definitions: unknown ids, archived fields, sections, wrong types and violated
 * constraints. Returns at most 50 issues with paths like `fields.fld_x`, without values. `null` clears a field and is
 * not checked here.
 */
export function checkValues(fields: readonly FieldDefinition[], values: Values, path: string): Issue[] {
  const byId = new Map(fields.map((field) => [field.fieldId, field]));
  const matches = createPatternMatcher();
  const suggest = createFieldSuggester(fields);
  const issues: Issue[] = [];
  for (const [fieldId, value] of Object.entries(values)) {
    if (value === null) continue;
    if (issues.length === maxIssues) break;
    const field = byId.get(fieldId);
    const fault = field ? findFault(field, value, matches) : createUnknownFieldFault(suggest(fieldId));
    if (fault) issues.push(issueAt(path, fieldId, fault));
  }
  return issues;
}

/**
 * Checks a change of values: new values as in {@link checkValues}, and that cleared ids belong to the form or to
 * earlier values.
 */
export function checkChange(fields: readonly FieldDefinition[], before: Values, change: Values, path: string): Issue[] {
  const knownIds = new Set([...fields.map((field) => field.fieldId), ...Object.keys(before)]);
  const unknownIds = Object.keys(change).filter((fieldId) => change[fieldId] === null && !knownIds.has(fieldId));
  const suggest = createFieldSuggester(fields);
  const unknownIssues = unknownIds
    .slice(0, maxIssues)
    .map((fieldId) => issueAt(path, fieldId, createUnknownFieldFault(suggest(fieldId))));
  return [...checkValues(fields, change, path), ...unknownIssues].slice(0, maxIssues);
}

/**
 * Returns the ids of required fields without a value, except archived ones. Blank text and empty lists count as no
 * value.
 */
export function listMissingRequired(fields: readonly FieldDefinition[], values: Values): string[] {
  return fields
    .filter((field) => field.required && !field.archived && field.type !== "section")
    .map((field) => field.fieldId)
    .filter((fieldId) => !Object.hasOwn(values, fieldId) || isBlank(values[fieldId]));
}

/** Merges a change into values: null clears a value, and ids that are not named stay. */
export function mergeValues<V>(
  before: Readonly<Record<string, V>>,
  change: Readonly<Record<string, V | null>>,
): Record<string, V> {
  const merged = Object.entries({ ...before, ...change });
  return Object.fromEntries(merged.filter((entry): entry is [string, V] => change[entry[0]] !== null));
}

function isBlank(value: unknown): boolean {
  if (typeof value === "string") return value.trim() === "";
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

type Values = Readonly<Record<string, unknown>>;
type Fault = readonly [code: string, message: string];
type Matches = ReturnType<typeof createPatternMatcher>;

function createUnknownFieldFault(message: string): Fault {
  return ["unrecognized_keys", message];
}

function issueAt(path: string, fieldId: string, [code, message]: Fault): Issue {
  return { path: `${path}.${fieldId.slice(0, maxIdLength)}`, code, message };
}

function findFault(field: FieldDefinition, value: unknown, matches: Matches): Fault | undefined {
  if (field.archived) return ["unrecognized_keys", "The field is archived"];
  const constraints = field.constraints ?? {};
  switch (field.type) {
    case "text":
    case "textarea":
      return findTextFault(value, constraints, matches);
    case "number":
      return findNumberFault(value, constraints);
    case "date":
      if (CalendarDate.safeParse(value).success) return undefined;
      return ["invalid_format", "Expected a date without a time: YYYY-MM-DD"];
    case "boolean":
      return typeof value === "boolean" ? undefined : ["invalid_type", "Expected true or false"];
    case "select":
      return listFault([value], { options: constraints.options });
    case "multiselect":
      return Array.isArray(value) ? listFault(value, constraints) : ["invalid_type", "Expected a list of strings"];
    case "file":
      return listFault(Array.isArray(value) ? value : [value], { ...constraints, options: undefined });
    case "section":
      return ["unrecognized_keys", "A section has no value"];
  }
}

function findTextFault(value: unknown, constraints: Constraints, matches: Matches): Fault | undefined {
  if (typeof value !== "string") return ["invalid_type", "Expected a string"];
  const { minLength = 0, maxLength = limits.fieldChars, pattern } = constraints;
  if (value.length < minLength) return ["too_small", `Expected at least ${minLength} characters`];
  if (value.length > maxLength) return ["too_big", `Expected at most ${maxLength} characters`];
  if (pattern !== undefined && !matches(pattern, value)) {
    return ["invalid_format", "The value does not match the field's pattern"];
  }
  return undefined;
}

function findNumberFault(value: unknown, { min, max }: Constraints): Fault | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return ["invalid_type", "Expected a number"];
  if (min !== undefined && value < min) return ["too_small", `Expected at least ${min}`];
  if (max !== undefined && value > max) return ["too_big", `Expected at most ${max}`];
  return undefined;
}

function listFault(items: readonly unknown[], constraints: ListConstraints): Fault | undefined {
  const { minItems = 0, maxItems: maxAllowed = limits.fieldItems, options } = constraints;
  if (items.length < minItems) return ["too_small", `Expected at least ${minItems} items`];
  if (items.length > maxAllowed) return ["too_big", `Expected at most ${maxAllowed} items`];
  const allowed = options && new Set(options);
  for (const item of items) {
    if (typeof item !== "string" || item === "") return ["invalid_type", "Expected strings that are not empty"];
    if (item.length > limits.fieldItemChars) return ["too_big", `Expected at most ${limits.fieldItemChars} characters`];
    if (allowed && !allowed.has(item)) return ["invalid_value", "Expected one of the field's options"];
  }
  return new Set(items).size === items.length ? undefined : ["invalid_value", "Expected distinct items"];
}

interface ListConstraints {
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly options?: readonly string[] | undefined;
}
