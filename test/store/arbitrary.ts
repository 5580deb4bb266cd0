import fc from "fast-check";
import type * as z from "zod";

interface Definition {
  readonly type: string;
  readonly innerType?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly valueType?: z.core.$ZodType;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly options?: readonly z.core.$ZodType[];
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly unknown[];
  readonly format?: string;
}

const text = fc.string({ unit: "grapheme" });
// As JSON keeps it: without a negative zero.
const json = fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value)));
// JSON has one zero.
const real = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);

/** Values of a schema's types. Its bounds are not kept: what is stored was validated before. */
export function arbitraryOf(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const definition = schema._zod.def as unknown as Definition;
  const inner = () => arbitraryOf(definition.innerType as z.core.$ZodType);
  switch (definition.type) {
    case "string":
      return text;
    case "number":
      return definition.format === "safeint" || "check" in definition ? fc.maxSafeInteger() : real;
    case "boolean":
      return fc.boolean();
    case "enum":
      return fc.constantFrom(...Object.values(definition.entries ?? {}));
    case "literal":
      return fc.constantFrom(...(definition.values ?? []));
    case "nullable":
      return fc.option(inner(), { nil: null });
    case "optional":
      return inner();
    case "array":
      return fc.array(arbitraryOf(definition.element as z.core.$ZodType), { maxLength: 3 });
    case "record":
      return fc.dictionary(text, arbitraryOf(definition.valueType as z.core.$ZodType), {
        maxKeys: 3,
        noNullPrototype: true,
      });
    case "union":
      return fc.oneof(...(definition.options ?? []).map(arbitraryOf));
    case "object":
      return objectOf(definition.shape ?? {});
    default:
      return json;
  }
}

function objectOf(shape: Readonly<Record<string, z.core.$ZodType>>): fc.Arbitrary<Record<string, unknown>> {
  const names = Object.keys(shape);
  const requiredKeys = names.filter((name) => shape[name]?._zod.optin !== "optional");
  const values = Object.fromEntries(names.map((name) => [name, arbitraryOf(shape[name] as z.core.$ZodType)]));
  return fc.record(values, { requiredKeys, noNullPrototype: true });
}
