import type { Privacy } from "../../contract/access/privacy.ts";
import { excludeSensitiveScopes, type Scope } from "../../contract/access/scopes.ts";
import type { FieldAnnotation } from "../../contract/definition/field-annotations.ts";
import { createSchemaCache } from "../../contract/definition/schema-cache.ts";
import { compileTransform, omitted, type Transform } from "../../contract/definition/transform.ts";
import type { Reader, Store } from "../../store/port.ts";
import type { PreparedCall } from "../call.ts";
import { createStandardFieldCache, removePersonalAnswers } from "../personal-answers.ts";

/** Decides what a caller may see. */
export interface View {
  readonly scopes: ReadonlySet<Scope>;
  /** Ids of the custom person fields whose sensitivity is `standard`. */
  readonly standardFieldIds: ReadonlySet<string>;
}

/** Returns the view of a tenant for some scopes, by its active published person schema. */
export async function loadView(reader: Reader, scopes: ReadonlySet<Scope>): Promise<View> {
  const where = { active: true, published: true };
  const latest = { limit: 1, orderBy: "schemaVersion", descending: true } as const;
  const [schema] = await reader.find("personSchemas", { where }, latest);
  const standard = schema?.fields.filter((field) => field.sensitivity === "standard") ?? [];
  return { scopes, standardFieldIds: new Set(standard.map((field) => field.fieldId)) };
}

/** Returns the scopes by which a caller's answers are redacted. */
export function getVisibleScopes(
  { scopes }: { readonly scopes: ReadonlySet<Scope> },
  { privacy }: { readonly privacy?: Privacy | undefined },
): ReadonlySet<Scope> {
  return privacy === "redact" ? excludeSensitiveScopes(scopes) : scopes;
}

/** Removes from a handler's result what the caller may not see. */
export async function redactResult(
  store: Store,
  { operation, caller, call }: Pick<PreparedCall, "operation" | "caller" | "call">,
  result: unknown,
): Promise<unknown> {
  const { privacy } = call;
  const scopes = getVisibleScopes(caller, call);
  const standardFields = createStandardFieldCache(store, caller.businessId);
  const data = await removePersonalAnswers(operation, result, { privacy, scopes }, standardFields);
  const redactor = createRedactor(operation.data);
  return redactor ? redactor(data, await loadView(store.reader(caller.businessId), scopes)) : data;
}

export type Redactor = Transform<View>;

/**
 * Compiles the redaction of a schema from its marks (specification 2.5). Denies by default: an object with a sensitive
 * field keeps only declared properties.
 * @returns undefined for a schema without marks
 */
export const createRedactor = createSchemaCache((schema): Redactor | undefined =>
  compileTransform(schema, { visit: hide, undeclared: "drop" }),
);

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
