import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { type CallName, callNames } from "../../contract/index.ts";
import { getDataSchema } from "../results/field-selection.ts";
import type { JsonSchema } from "./schema.ts";

/**
 * The shape of each tool's `data`, for hosts that generate code. It is evaluated when the program is bundled, like
 * `tool-catalog.ts`.
 */
export const dataSchemas = Object.fromEntries(
  callNames.map((name) => [name, describe(toJsonSchema(getDataSchema(name)))]),
) as Readonly<Record<CallName, JsonSchema>>;

function toJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: "output", unrepresentable: "any" }) as JsonSchema;
}

/**
 * Returns a schema's types and names. Nothing is required, because `select` chooses fields and redaction removes some.
 * Values of an enumeration are a description, so that a new one breaks no client.
 */
function describe(schema: JsonSchema): JsonSchema {
  const { type, properties, items, anyOf, enum: values } = schema as DescribedSchema;
  if (anyOf) return describeUnion(anyOf);
  return {
    ...(type === undefined ? {} : { type }),
    ...(values ? { description: values.join(" | ") } : {}),
    ...(properties ? { properties: Object.fromEntries(Object.entries(properties).map(describeEntry)) } : {}),
    ...(items ? { items: describe(items) } : {}),
  };
}

interface DescribedSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly string[];
}

function describeEntry([name, schema]: [string, JsonSchema]): [string, JsonSchema] {
  return [name, describe(schema)];
}

/** Describes a value that may be null, or one of several objects. Some hosts refuse combinators. */
function describeUnion(members: readonly JsonSchema[]): JsonSchema {
  const described = members.filter(({ type }) => type !== "null").map(describe);
  const merged = described.reduce(mergeSchemas);
  if (described.length === members.length || merged.type === undefined) return merged;
  return { ...merged, type: [merged.type, "null"].flat() };
}

/** Merges the properties of two objects. Of other schemas that differ, only a common type remains. */
function mergeSchemas(a: JsonSchema, b: JsonSchema): JsonSchema {
  if (isDeepStrictEqual(a, b)) return a;
  if (!isDeepStrictEqual(a.type, b.type)) return {};
  if (!a.properties || !b.properties) return a.type === undefined ? {} : { type: a.type };
  const shared = Object.entries(b.properties).map(([name, schema]) => {
    const other = a.properties?.[name];
    return [name, other ? mergeSchemas(other, schema) : schema];
  });
  return { type: "object", properties: { ...a.properties, ...Object.fromEntries(shared) } };
}
