import * as z from "zod";
import { type CallName, operations } from "../../contract/index.ts";
import { batchShape } from "../batch/batch-arguments.ts";
import { AssignmentStatuses } from "../filters/row-filters.ts";
import { getToolArguments, Select } from "./tool-options.ts";

/** The part of JSON Schema that this module uses. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

/**
 * Keywords that models do not need: they write formats correctly without patterns and rarely reach bounds. Validation
 * by the pipeline still applies them and explains errors.
 */
const omittedKeywords = new Set([
  "$schema",
  "pattern",
  "propertyNames",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "additionalProperties",
  // Tool lists are shorter by default, which the server's instructions explain.
  "default",
]);
const usualBounds: Readonly<Record<string, readonly unknown[]>> = {
  minimum: [0, 1, Number.MIN_SAFE_INTEGER],
  maximum: [Number.MAX_SAFE_INTEGER],
};

/**
 * Creates a tool's input schema: path variables, query, body and options in one flat, strict object. It has no
 * combinator at the top level, which some hosts reject, and few tokens, because hosts send it to their model.
 */
export function createInputSchema(name: CallName): JsonSchema {
  return createObjectSchema(getToolArguments(name).shape);
}

export function createBatchSchema(): JsonSchema {
  return createObjectSchema(batchShape);
}

function createObjectSchema(shape: Readonly<Record<string, z.ZodType>>): JsonSchema {
  const object = z.strictObject(shape);
  const { type, properties, required } = z.toJSONSchema(object, {
    io: "input",
    override: declareOneForm,
  }) as JsonSchema;
  return {
    ...(type ? { type } : {}),
    ...(properties && Object.keys(properties).length > 0 ? { properties: compactEach(properties) } : {}),
    ...(required && required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/**
 * Declares one form of arguments that accept two: `select` as text, because it is in every tool and a list costs twice
 * the tokens, and statuses as a list, because some hosts reject unions.
 */
function declareOneForm({ zodSchema, jsonSchema }: OverriddenSchema) {
  if (zodSchema === Select) {
    delete jsonSchema.items;
    jsonSchema.type = "string";
  } else if (zodSchema === AssignmentStatuses) {
    Object.assign(jsonSchema, jsonSchema.anyOf?.[1]);
    delete jsonSchema.anyOf;
  }
}

interface OverriddenSchema {
  readonly zodSchema: z.core.$ZodType;
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}

export const pendingConfirmationSchema: JsonSchema = {
  type: "object",
  properties: {
    question: { type: "string" },
    token: { type: "string" },
    expiresAt: { type: "string" },
    approvalId: { type: "string" },
    url: { type: "string" },
  },
  required: ["question", "token", "expiresAt"],
};

/**
 * Creates a tool's output schema: `data` as the operation returns it, with loose types so that new fields break no
 * client; `page` for lists; `notes` about how the call was processed. A tool that asks for confirmation returns `data`
 * or `confirmation`, which the schema cannot express without a combinator that some hosts reject.
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
      ...(operation.confirm ? { confirmation: pendingConfirmationSchema } : {}),
    },
    ...(operation.confirm ? {} : { required: ["data"] }),
  };
}

function compactSchema(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  if (properties && isLong(schema)) {
    const { description } = schema;
    return { type: "object", description: [describeShape(schema), description].filter(Boolean).join(": ") };
  }
  const entries = Object.entries(schema).filter(
    ([keyword, value]) => !omittedKeywords.has(keyword) && !usualBounds[keyword]?.includes(value),
  );
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, compactKeyword(keyword, value)]));
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

/**
 * Returns whether an object has only optional texts. It is described by its keys, because its schema would cost five
 * times as many tokens.
 */
function isLong({ properties = {}, required }: JsonSchema): boolean {
  return Object.keys(properties).length > 2 && !required && Object.values(properties).every(isTextual);
}

function isTextual(schema: JsonSchema): boolean {
  return schema.properties
    ? !schema.required && Object.values(schema.properties).every(isTextual)
    : schema.type === "string";
}

/**
 * Describes a shape, for example `{headerText, pages: {landing, register: {heroTitle, ctaLabel}}}`: of equal neighbours
 * only the last one shows its keys.
 */
function describeShape({ properties = {} }: JsonSchema): string {
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    keys: schema.properties ? describeShape(schema) : "",
  }));
  const keys = fields.map(({ name, keys }, index) =>
    keys && fields[index + 1]?.keys !== keys ? `${name}: ${keys}` : name,
  );
  return `{${keys.join(", ")}}`;
}
