import type * as z from "zod";
import type { FieldAnnotation } from "../contract/definition/field-annotations.ts";
import { compileTransform, omitted, type Transform } from "../contract/definition/transform.ts";
import type { Scope } from "../contract/scopes.ts";
import type { Reader } from "../store/port.ts";

/** What a caller may see. */
export interface View {
  readonly scopes: ReadonlySet<Scope>;
  /** Ids of the person custom fields that are `standard`. */
  readonly standardFieldIds: ReadonlySet<string>;
}

/** What holders of some scopes may see of a tenant, by its active published person schema. */
export async function loadView(reader: Reader, scopes: ReadonlySet<Scope>): Promise<View> {
  const where = { active: true, published: true };
  const latest = { limit: 1, orderBy: "schemaVersion", descending: true } as const;
  const [schema] = await reader.find("personSchemas", { where }, latest);
  const standard = schema?.fields.filter((field) => field.sensitivity === "standard") ?? [];
  return { scopes, standardFieldIds: new Set(standard.map((field) => field.fieldId)) };
}

export type Redactor = Transform<View>;

const compiled = new WeakMap<z.core.$ZodType, Redactor | null>();

/**
 * The redaction that a schema's marks ask for (specification 2.5), or nothing where it has none.
 * Deny by default: an object that holds a sensitive field lets through only what is declared.
 */
export function createRedactor(schema: z.core.$ZodType): Redactor | undefined {
  let redactor = compiled.get(schema);
  if (redactor === undefined) {
    redactor = compileTransform(schema, { visit: hide, undeclared: "drop" }) ?? null;
    compiled.set(schema, redactor);
  }
  return redactor ?? undefined;
}

function hide(mark: FieldAnnotation, inner: Transform<View> | undefined): Transform<View> | undefined {
  const { sensitive, byField, blank } = mark;
  if (!sensitive) return inner;
  const instead = blank === undefined ? omitted : blank;
  return (value, view) => {
    if (view.scopes.has(sensitive)) return inner ? inner(value, view) : value;
    return byField ? keepStandardFields(value, view) : instead;
  };
}

function keepStandardFields(value: unknown, view: View): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([fieldId]) => view.standardFieldIds.has(fieldId)));
}
