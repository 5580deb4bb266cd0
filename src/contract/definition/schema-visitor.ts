import type * as z from "zod";

export type AnySchema = z.core.$ZodType;
export type Fields = Readonly<Record<string, AnySchema>>;

/** Returns something for each type of schema. A type without a method goes to `other`. */
export interface SchemaVisitor<R> {
  object?(fields: Fields): R;
  array?(element: AnySchema): R;
  record?(value: AnySchema): R;
  union?(options: readonly AnySchema[]): R;
  enum?(values: readonly string[]): R;
  literal?(values: readonly unknown[]): R;
  /** @param format - `email`, `datetime` and others */
  string?(schema: AnySchema, format: string | undefined): R;
  /** @param format - `safeint` for integers */
  number?(format: string | undefined): R;
  boolean?(): R;
  other(): R;
}

/** The parts of zod's definitions that are read here and nowhere else. */
type Definition = z.core.$ZodTypeDef & {
  readonly shape: Fields;
  readonly element: AnySchema;
  readonly valueType: AnySchema;
  readonly options: readonly AnySchema[];
  readonly entries: Readonly<Record<string, string>>;
  readonly values: readonly unknown[];
  readonly format?: string;
  readonly innerType: AnySchema;
  readonly in: AnySchema;
};

function getDefinition(schema: AnySchema): Definition {
  return schema._zod.def as Definition;
}

/** Passes a schema, without its wrappers, to the method for its type. */
export function visitSchema<R>(wrapped: AnySchema, visitor: SchemaVisitor<R>): R {
  const schema = unwrap(wrapped);
  const definition = getDefinition(schema);
  switch (definition.type) {
    case "object":
      return visitor.object ? visitor.object(definition.shape) : visitor.other();
    case "array":
      return visitor.array ? visitor.array(definition.element) : visitor.other();
    case "record":
      return visitor.record ? visitor.record(definition.valueType) : visitor.other();
    case "union":
      return visitor.union ? visitor.union(definition.options) : visitor.other();
    case "enum":
      return visitor.enum ? visitor.enum(Object.values(definition.entries)) : visitor.other();
    case "literal":
      return visitor.literal ? visitor.literal(definition.values) : visitor.other();
    case "string":
      return visitor.string ? visitor.string(schema, definition.format) : visitor.other();
    case "number":
      return visitor.number ? visitor.number(definition.format) : visitor.other();
    case "boolean":
      return visitor.boolean ? visitor.boolean() : visitor.other();
    default:
      return visitor.other();
  }
}

/** Returns the type of a schema inside its wrappers, by zod's name. */
export function getSchemaType(schema: AnySchema): Definition["type"] {
  return getDefinition(unwrap(schema)).type;
}

/** Returns the fields of an object schema. */
export function getFields(schema: AnySchema): Fields | undefined {
  return visitSchema<Fields | undefined>(schema, { object: (fields) => fields, other: () => undefined });
}

/** Returns the schema of a list's rows, and any other schema as it is. */
export function getRowSchema(schema: AnySchema): AnySchema {
  const definition = getDefinition(unwrap(schema));
  return definition.type === "array" ? definition.element : schema;
}

/** Lists the schemas directly inside a schema: fields, elements, values and options. */
export function listInnerSchemas(schema: AnySchema): readonly AnySchema[] {
  return visitSchema<readonly AnySchema[]>(schema, {
    object: (fields) => Object.values(fields),
    array: (element) => [element],
    record: (value) => [value],
    union: (options) => options,
    other: () => [],
  });
}

/** Returns whether an object may leave a field of this schema out. */
export function isOptional(schema: AnySchema): boolean {
  return schema._zod.optin === "optional";
}

/** Lists the types of a schema's wrappers, the outer one first. */
export function listWrappers(schema: AnySchema): readonly string[] {
  const inner = getInnerSchema(schema);
  return inner ? [getDefinition(schema).type, ...listWrappers(inner)] : [];
}

/**
 * Returns the schema inside one wrapper (`optional`, `nullable`, `default`, `readonly`, a transform), or `undefined`
 * for other schemas.
 */
export function getInnerSchema(schema: AnySchema): AnySchema | undefined {
  const definition = getDefinition(schema);
  switch (definition.type) {
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "readonly":
    case "nonoptional":
      return definition.innerType;
    case "pipe":
      return definition.in;
    default:
      return undefined;
  }
}

/** Returns the schema inside all wrappers. */
export function unwrap(schema: AnySchema): AnySchema {
  const inner = getInnerSchema(schema);
  return inner ? unwrap(inner) : schema;
}
