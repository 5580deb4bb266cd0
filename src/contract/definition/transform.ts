import { type FieldAnnotation, getAnnotation } from "./field-annotations.ts";
import { type AnySchema, type Fields, visitSchema } from "./schema-visitor.ts";

/** Changes the annotated parts of a value. */
export type Transform<C> = (value: unknown, context: C) => unknown;

/** Returned by a transform to leave a property out. */
export const omitted = Symbol("omitted");

export interface AnnotationVisitor<C> {
  /**
   * Returns the transform of an annotated value, given the transform of its content, or `undefined` if the annotation
   * does not matter.
   */
  visit(annotation: FieldAnnotation, inner: Transform<C> | undefined): Transform<C> | undefined;
  /** True if objects with annotated fields keep properties that their schema does not declare. */
  readonly undeclared: "keep" | "drop";
}

/** Compiles a schema into the transform that its annotations require, or `undefined` if they require none. */
export function compileTransform<C>(schema: AnySchema, visitor: AnnotationVisitor<C>): Transform<C> | undefined {
  const annotation = getAnnotation(schema);
  const inner = compileShape(schema, visitor);
  return annotation ? visitor.visit(annotation, inner) : inner;
}

function compileShape<C>(schema: AnySchema, visitor: AnnotationVisitor<C>): Transform<C> | undefined {
  return visitSchema<Transform<C> | undefined>(schema, {
    object: (fields) => compileObject(fields, visitor),
    array(element) {
      const item = compileTransform(element, visitor);
      return item && ((value, context) => (Array.isArray(value) ? value.map((each) => item(each, context)) : value));
    },
    union(options) {
      if (!options.some((option) => compileTransform(option, visitor))) return undefined;
      throw new Error(
        "A union cannot contain annotated fields, because their redaction would depend on the shape of a value",
      );
    },
    other: () => undefined,
  });
}

function compileObject<C>(shape: Fields, visitor: AnnotationVisitor<C>): Transform<C> | undefined {
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
