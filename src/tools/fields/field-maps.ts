import * as z from "zod";
import { getAnnotation,  } from "../../contract/definition/field-annotations.ts";
import type { CallName } from "../../contract/index.ts";
import { getRecordSchema } from "../results/field-selection.ts";

/** A map from field ids to values in a record. */
export interface FieldMap {
  readonly path: readonly string[];
  readonly kind: "form" | "person";
}

/** Returns the maps from field ids to values in a record. */
export function listFieldMaps(schema: z.core.$ZodType): readonly FieldMap[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]): FieldMap[] => {
    const annotation = getAnnotation(field as z.ZodType);
    if (annotation?.answers) return [{ path: [name], kind: "form" }];
    if (annotation?.byField) return [{ path: [name], kind: "person" }];
    return listFieldMaps((field as z.ZodType)).map((inner) => ({ ...inner, path: [name, ...inner.path] }));
  });
}

/** Returns whether an operation returns values by field id, or scores by criterion. */
export function hasFieldNames(name: CallName): boolean {
  const schema = getRecordSchema(name);
  return listFieldMaps(schema).length > 0 || (schema instanceof z.ZodObject && Object.hasOwn(schema.shape, "scores"));
}
