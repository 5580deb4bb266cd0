import fc from "fast-check";
import {
  type AnySchema,
  type Fields,
  getInnerSchema,
  isOptional,
  listWrappers,
  visitSchema,
} from "../../src/contract/definition/schema-visitor.ts";

const text = fc.string({ unit: "grapheme" });
// As JSON keeps it: without a negative zero.
const json = fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value)));
// JSON has one zero.
const real = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);

/** Values of a schema's types. Its bounds are not kept: what is stored was validated before. */
export function arbitraryOf(schema: AnySchema): fc.Arbitrary<unknown> {
  const inner = getInnerSchema(schema);
  if (inner)
    return listWrappers(schema)[0] === "nullable" ? fc.option(arbitraryOf(inner), { nil: null }) : arbitraryOf(inner);
  return visitSchema<fc.Arbitrary<unknown>>(schema, {
    string: () => text,
    number: (format) => (format === "safeint" ? fc.maxSafeInteger() : real),
    boolean: () => fc.boolean(),
    enum: (values) => fc.constantFrom(...values),
    literal: (values) => fc.constantFrom(...values),
    array: (element) => fc.array(arbitraryOf(element), { maxLength: 3 }),
    record: (value) => fc.dictionary(text, arbitraryOf(value), { maxKeys: 3, noNullPrototype: true }),
    union: (options) => fc.oneof(...options.map(arbitraryOf)),
    object: objectOf,
    other: () => json,
  });
}

function objectOf(fields: Fields): fc.Arbitrary<Record<string, unknown>> {
  const entries = Object.entries(fields);
  const requiredKeys = entries.filter(([, field]) => !isOptional(field)).map(([name]) => name);
  const values = Object.fromEntries(entries.map(([name, field]) => [name, arbitraryOf(field)]));
  return fc.record(values, { requiredKeys, noNullPrototype: true });
}
