import type { AnySchema } from "./schema-visitor.ts";

/** Returns a function that computes something of a schema once: schemas are few and do not change. */
export function createSchemaCache<S extends AnySchema, R>(compute: (schema: S) => R): (schema: S) => R {
  const computed = new WeakMap<S, { readonly result: R }>();
  return (schema) => {
    let cached = computed.get(schema);
    if (!cached) {
      cached = { result: compute(schema) };
      computed.set(schema, cached);
    }
    return cached.result;
  };
}
