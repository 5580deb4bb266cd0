import type * as z from "zod";
import { type Mark, markOf, unwrap } from "../contract/marks.ts";
import type { Scope } from "../contract/scopes.ts";

/** What a caller may see. */
export interface View {
  readonly scopes: ReadonlySet<Scope>;
  /** Ids of the person custom fields that are `standard`. */
  readonly standardFieldIds: ReadonlySet<string>;
}

type Redactor = (value: unknown, view: View) => unknown;

/** Stands for a property that is left out. */
const omitted = Symbol("omitted");

const compiled = new WeakMap<z.core.$ZodType, Redactor | null>();

/**
 * The redaction that a schema's marks ask for (specification 2.5), or nothing where it has none.
 * Deny by default: an object that holds a sensitive field lets through only what is declared.
 */
export function redactorOf(schema: z.core.$ZodType): Redactor | undefined {
  let redactor = compiled.get(schema);
  if (redactor === undefined) {
    redactor = compile(schema) ?? null;
    compiled.set(schema, redactor);
  }
  return redactor ?? undefined;
}

function compile(schema: z.core.$ZodType): Redactor | undefined {
  const mark = markOf(schema);
  const inner = compileShape(unwrap(schema));
  return mark?.sensitive ? hide(mark, mark.sensitive, inner) : inner;
}

function compileShape(schema: z.core.$ZodType): Redactor | undefined {
  const definition = schema._zod.def as z.core.$ZodTypeDef & {
    shape?: Record<string, z.core.$ZodType>;
    element?: z.core.$ZodType;
    options?: readonly z.core.$ZodType[];
  };
  if (definition.shape) return compileObject(definition.shape);
  if (definition.element) {
    const item = compile(definition.element);
    return item && ((value, view) => (Array.isArray(value) ? value.map((each) => item(each, view)) : []));
  }
  if (definition.options?.some((option) => compile(option))) {
    throw new Error("A union cannot hold sensitive fields: which of its shapes a value has would decide what shows");
  }
  return undefined;
}

function compileObject(shape: Record<string, z.core.$ZodType>): Redactor | undefined {
  const fields = Object.entries(shape).map(([name, field]) => ({ name, redact: compile(field) }));
  if (fields.every(({ redact }) => redact === undefined)) return undefined;
  return (value, view) => {
    if (typeof value !== "object" || value === null) return value;
    const shown: Record<string, unknown> = {};
    for (const { name, redact } of fields) {
      const before = (value as Record<string, unknown>)[name];
      if (before === undefined) continue;
      const after = redact ? redact(before, view) : before;
      if (after !== omitted) shown[name] = after;
    }
    return shown;
  };
}

function hide(mark: Mark, scope: Scope, inner: Redactor | undefined): Redactor {
  const instead = mark.blank === undefined ? omitted : mark.blank;
  return (value, view) => {
    if (view.scopes.has(scope)) return inner ? inner(value, view) : value;
    if (mark.byField) return onlyStandard(value, view);
    return instead;
  };
}

function onlyStandard(value: unknown, view: View): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([fieldId]) => view.standardFieldIds.has(fieldId)));
}
