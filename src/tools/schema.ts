import * as z from "zod";
import type { Operation } from "../contract/operation.ts";

/** A JSON Schema node, as far as it is looked into here. */
export interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

/** What a schema says that a model has no use for: it fills formats right without their patterns. */
const noise = new Set(["$schema", "pattern", "propertyNames"]);

/**
 * A tool's input: path variables, query and body in one flat, strict object; never a combinator at the top, which
 * some hosts refuse.
 */
export function inputSchemaOf(operation: Operation): JsonSchema {
  const shape = { ...operation.params.shape, ...operation.body?.shape, ...operation.queryObject.shape };
  return compact(z.toJSONSchema(z.strictObject(shape), { io: "input" })) as JsonSchema;
}

/**
 * A tool's structured result: `data` as the operation gives it, loosely, so that a field added upstream breaks no
 * client; `page` for lists; `notes` for what the caller should know of how the call was done.
 */
export function outputSchemaOf(operation: Operation): JsonSchema {
  const { type } = z.toJSONSchema(operation.data, { io: "output", unrepresentable: "any" });
  return {
    type: "object",
    properties: {
      data: type === "array" ? { type: "array", items: { type: "object" } } : { type: "object" },
      ...(operation.paginated
        ? {
            page: {
              type: "object",
              properties: { hasMore: { type: "boolean" }, lastEvaluatedKey: { type: "string" } },
              required: ["hasMore"],
            },
          }
        : {}),
      notes: { type: "array", items: { type: "string" } },
    },
    required: ["data"],
  };
}

function compact(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(compact);
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(
    ([keyword, value]) => !noise.has(keyword) && !(keyword === "maximum" && value === Number.MAX_SAFE_INTEGER),
  );
  return Object.fromEntries(
    kept.map(([keyword, value]) => [keyword, keyword === "properties" ? eachOf(value) : compact(value)]),
  );
}

// Below `properties` stand the names of fields, one of which may be called like a keyword.
function eachOf(properties: unknown): unknown {
  return Object.fromEntries(Object.entries(properties as object).map(([name, schema]) => [name, compact(schema)]));
}
