import * as z from "zod";
import { type CallName, operations } from "../../contract/index.ts";
import { getToolOptions } from "./tool-options.ts";

/** A JSON Schema node, as far as it is looked into here. */
export interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

/**
 * What a schema says that a model has no use for: it fills formats right without their patterns and hardly meets a
 * bound. The gate checks it all the same, and says what is wrong.
 */
const noise = new Set([
  "$schema",
  "pattern",
  "propertyNames",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "additionalProperties",
  // Pages are shorter here, which the server's instructions say once.
  "default",
]);
const usualBounds: Readonly<Record<string, readonly unknown[]>> = {
  minimum: [0, 1, Number.MIN_SAFE_INTEGER],
  maximum: [Number.MAX_SAFE_INTEGER],
};

/**
 * A tool's input: path variables, query, body and the tool's own arguments in one flat, strict object; never a
 * combinator at the top, which some hosts refuse. Measured in tokens: every host sends the list to its model.
 */
export function createInputSchema(name: CallName): JsonSchema {
  const object = z.strictObject(getToolOptions(name).shape);
  const { type, properties, required } = z.toJSONSchema(object, { io: "input" }) as JsonSchema;
  return {
    ...(type ? { type } : {}),
    ...(properties && Object.keys(properties).length > 0 ? { properties: compactEach(properties) } : {}),
    ...(required && required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

const question: JsonSchema = {
  type: "object",
  properties: { question: { type: "string" }, token: { type: "string" }, expiresAt: { type: "string" } },
  required: ["question", "token", "expiresAt"],
};

/**
 * A tool's structured result: `data` as the operation gives it, loosely, so that a field added upstream breaks no
 * client; `page` for lists; `notes` for what the caller should know of how the call was done. A tool that asks first
 * answers either `data` or `confirmation`: some hosts refuse the combinator that would say so.
 */
export function createOutputSchema(name: CallName): JsonSchema {
  const operation = operations[name];
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
      ...(operation.confirm ? { confirmation: question } : {}),
    },
    ...(operation.confirm ? {} : { required: ["data"] }),
  };
}

function compactSchema(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  if (properties && isLong(schema)) return { type: "object", description: describeShape(schema) };
  const kept = Object.entries(schema).filter(
    ([keyword, value]) => !noise.has(keyword) && !usualBounds[keyword]?.includes(value),
  );
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, compactKeyword(keyword, value)]));
}

function compactKeyword(keyword: string, value: unknown): unknown {
  switch (keyword) {
    case "properties":
      return compactEach(value as Readonly<Record<string, JsonSchema>>);
    case "items":
      return compactSchema(value as JsonSchema);
    case "anyOf":
      return (value as readonly JsonSchema[]).map(compactSchema);
    default:
      return value;
  }
}

function compactEach(properties: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, compactSchema(schema)]));
}

/** Objects of many texts, none of them required, are told by their keys: as a schema they cost five times as much. */
function isLong({ properties = {}, required }: JsonSchema): boolean {
  return Object.keys(properties).length > 2 && !required && Object.values(properties).every(isTextual);
}

function isTextual(schema: JsonSchema): boolean {
  return schema.properties
    ? !schema.required && Object.values(schema.properties).every(isTextual)
    : schema.type === "string";
}

/** `{headerText, pages: {landing, register: {heroTitle, ctaLabel}}}`: of neighbours alike only the last has its keys. */
function describeShape({ properties = {} }: JsonSchema): string {
  const told = Object.entries(properties).map(([name, schema]) => ({
    name,
    keys: schema.properties ? describeShape(schema) : "",
  }));
  const keys = told.map(({ name, keys }, index) =>
    keys && told[index + 1]?.keys !== keys ? `${name}: ${keys}` : name,
  );
  return `{${keys.join(", ")}}`;
}
