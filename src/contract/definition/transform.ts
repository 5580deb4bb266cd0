import type * as z from "zod";
import { getAnnotation, type Mark, unwrap } from "./field-annotations.ts";

/** Changes a value of a schema, looking at its marked parts alone. */
export type Transform<C> = (value: unknown, context: C) => unknown;

/** Stands for a property that is left out. */
export const omitted = Symbol("omitted");

export interface Visitor<C> {
  /** What becomes of a marked value, given what becomes of its inside; nothing where the mark is of no interest. */
  mark(mark: Mark, inner: Transform<C> | undefined): Transform<C> | undefined;
  /** What an object that holds something marked does with properties that its schema does not declare. */
  readonly undeclared: "keep" | "drop";
}

/** Compiles a schema into the transformation that its marks ask for, or nothing where they ask for none. */
export function compileTransform<C>(schema: z.core.$ZodType, visitor: Visitor<C>): Transform<C> | undefined {
  const mark = getAnnotation(schema);
  const inner = compileShape(unwrap(schema), visitor);
  return mark ? visitor.mark(mark, inner) : inner;
}

function compileShape<C>(schema: z.core.$ZodType, visitor: Visitor<C>): Transform<C> | undefined {
  const definition = schema._zod.def as z.core.$ZodTypeDef & {
    shape?: Record<string, z.core.$ZodType>;
    element?: z.core.$ZodType;
    options?: readonly z.core.$ZodType[];
  };
  if (definition.shape) return compileObject(definition.shape, visitor);
  if (definition.element) {
    const item = compileTransform(definition.element, visitor);
    return item && ((value, context) => (Array.isArray(value) ? value.map((each) => item(each, context)) : value));
  }
  if (definition.options?.some((option) => compileTransform(option, visitor))) {
    throw new Error(
      "A union cannot hold marked fields: which of its shapes a value has would decide what becomes of it",
    );
  }
  return undefined;
}

function compileObject<C>(shape: Record<string, z.core.$ZodType>, visitor: Visitor<C>): Transform<C> | undefined {
  const fields = Object.entries(shape).map(([name, field]) => ({ name, transform: compileTransform(field, visitor) }));
  const changing = fields.filter(({ transform }) => transform !== undefined);
  if (changing.length === 0) return undefined;
  const keeps = visitor.undeclared === "keep";
  return (value, context) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const before = value as Readonly<Record<string, unknown>>;
    const after: Record<string, unknown> = keeps ? { ...before } : {};
    for (const { name, transform } of keeps ? changing : fields) {
      if (before[name] === undefined) continue;
      const changed = transform ? transform(before[name], context) : before[name];
      if (changed === omitted) delete after[name];
      else after[name] = changed;
    }
    return after;
  };
}
