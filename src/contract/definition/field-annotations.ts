import type * as z from "zod";
import type { Scope } from "../scopes.ts";

export interface Mark {
  /** Hidden from callers without this scope. */
  readonly sensitive?: Scope;
  /** The value is an object of which only declared `standard` keys survive without the scope. */
  readonly byField?: "person";
  /** What stands in place of a hidden value; without it the property is left out. */
  readonly blank?: unknown;
  /** Personal data: its value never enters an event, an audit value or a log. */
  readonly personal?: true;
  /** What an agent sees a handle of instead, and may give a handle for. */
  readonly handle?: HandleKind;
  /** Values of anybody's choosing: agents see handles of those that have the form of something that is hidden. */
  readonly freeForm?: true;
  /** Answers to a form: agents without the scope see those alone whose fields the form calls `standard`. */
  readonly answers?: true;
}

/** Values by which a person can be reached or recognised outside this service. */
export type HandleKind = "email" | "phone" | "externalId";

const marks = new WeakMap<z.core.$ZodType, Mark>();

/** A marked copy: the same schema may stand elsewhere without the mark. */
function mark<S extends z.ZodType>(schema: S, added: Mark): S {
  const marked = schema.clone() as S;
  marks.set(marked, { ...marks.get(schema), ...added });
  return marked;
}

/** Marks personal data: its value stays out of events, audit values and logs. */
export function personal<S extends z.ZodType>(schema: S): S {
  return mark(schema, { personal: true });
}

/** Marks personal data by which a person can be reached: agents see and give handles of it. */
export function contactDetail<S extends z.ZodType>(schema: S, handle: HandleKind): S {
  return mark(schema, { personal: true, handle });
}

/** Marks values of anybody's choosing, a text or a map: what of them is hidden from agents goes by its form. */
export function freeForm<S extends z.ZodType>(schema: S): S {
  return mark(schema, { freeForm: true });
}

/** Marks answers to a form, which the record names by `schemaId`, as personal data. */
export function formAnswers<S extends z.ZodType>(schema: S): S {
  return mark(schema, { personal: true, answers: true });
}

/**
 * Marks a field that only holders of `scope` may read (specification 2.5). Sensitive implies personal.
 * With `blank`, a required field keeps its place and shows that value instead.
 */
export function sensitive<S extends z.ZodType>(schema: S, scope: Scope, blank?: unknown): S {
  return mark(schema, { sensitive: scope, personal: true, ...(blank === undefined ? {} : { blank }) });
}

/** Marks a map from custom-field id to value: ids that are not `standard` need `scope`. */
export function sensitiveByField<S extends z.ZodType>(schema: S, scope: Scope): S {
  return mark(schema, { sensitive: scope, byField: "person", personal: true });
}

/** The marks of a schema, its wrappers' (`optional`, `nullable`, `default` and the like) and what is inside them joined. */
export function getAnnotation(schema: z.core.$ZodType): Mark | undefined {
  const own = marks.get(schema);
  const inner = getInnerSchema(schema);
  const inherited = inner && getAnnotation(inner);
  return own && inherited ? { ...inherited, ...own } : (own ?? inherited);
}

/** The schema inside one wrapper (`optional`, `nullable`, `default`, `readonly`, a transform), if it is one. */
export function getInnerSchema(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const definition = schema._zod.def as { type: string; innerType?: z.core.$ZodType; in?: z.core.$ZodType };
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

/** The schema without its wrappers. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const inner = getInnerSchema(schema);
  return inner ? unwrap(inner) : schema;
}
