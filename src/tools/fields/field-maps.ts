import { getAnnotation } from "../../contract/definition/field-annotations.ts";
import { createSchemaCache } from "../../contract/definition/schema-cache.ts";
import { type AnySchema, getFields } from "../../contract/definition/schema-visitor.ts";
import type { CallName } from "../../contract/index.ts";
import { getRecordSchema, listRecordFields } from "../results/field-selection.ts";

/** A map from field ids to values in a record. */
export interface FieldMap {
  readonly path: readonly string[];
  readonly kind: "form" | "person";
}

/** Returns the maps from field ids to values in a record. */
export const listFieldMaps = createSchemaCache(findFieldMaps);

function findFieldMaps(schema: AnySchema): readonly FieldMap[] {
  return Object.entries(getFields(schema) ?? {}).flatMap(([name, field]): FieldMap[] => {
    const annotation = getAnnotation(field);
    if (annotation?.answers) return [{ path: [name], kind: "form" }];
    if (annotation?.byField) return [{ path: [name], kind: "person" }];
    return findFieldMaps(field).map((inner) => ({ ...inner, path: [name, ...inner.path] }));
  });
}

/** Returns whether an operation returns values by field id, or scores by criterion. */
export function hasFieldNames(name: CallName): boolean {
  const schema = getRecordSchema(name);
  return listFieldMaps(schema).length > 0 || listRecordFields(schema).includes("scores");
}
