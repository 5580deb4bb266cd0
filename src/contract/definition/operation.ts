import * as z from "zod";
import type { Scope } from "../access/scopes.ts";
import { type ProblemCode, problem } from "../errors.ts";
import { Id } from "./fields.ts";
import { PageMeta } from "./page.ts";
import type { AuditAction } from "./record-kinds.ts";

/** The effect of a call. MCP hints and the need for a transaction follow from it. */
export type Effect = "read" | "create" | "update" | "destroy" | "send";

export type Shape = Readonly<Record<string, z.ZodType>>;

export interface Declaration<
  Path extends string,
  Query extends Shape,
  Body extends Shape,
  Data extends z.ZodType,
  E extends Effect,
> {
  /** Describes the operation in one line. */
  readonly summary: string;
  /** Adds what the summary and the fields do not say. */
  readonly description?: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path below `/integrations/v1`, with variables in braces. */
  readonly path: Path;
  /**
   * URI template (RFC 6570) of what a read shows, with the path's variables in braces. Names of the query are added to
   * it.
   */
  readonly resource?: ResourceUri;
  readonly scope: Scope;
  /** Other scopes, each of which is sufficient. The scopes present decide what the call shows. */
  readonly anyOfScopes?: readonly Scope[];
  readonly effect: E;
  readonly query?: Query;
  readonly body?: z.ZodObject<Body, z.core.$strict>;
  readonly data: Data;
  /**
   * Dot paths of the data that a write changes beyond the record's state and the fields that its body names. Tools answer
   * with these by default.
   */
  readonly changes?: readonly string[];
  /** Most rows of a list without pages. A smaller `limit` of the call applies. */
  readonly maxRows?: number;
  readonly status?: 200 | 201;
  readonly audit: AuditAction;
  /** Errors beyond {@link commonErrors}. */
  readonly errors?: readonly ProblemCode[];
  /** Returns the scopes that an input needs in addition to `scope`. */
  readonly conditionalScopes?: (input: Readonly<Record<string, unknown>>) => readonly Scope[];
  /**
   * Describes a call that a human should confirm, because what it destroys, sends or decides cannot be undone. Returns
   * `undefined` for inputs that need no confirmation.
   */
  readonly confirm?: (input: Readonly<Record<string, unknown>>) => string | undefined;
  /** The quota that a successful call uses. */
  readonly quota?: "export";
}

type ResourceUri = `programme://${string}`;

/** Requires reads, and only reads, to name their resource. */
type Readable<E extends Effect> = E extends "read" ? { readonly resource: ResourceUri } : { readonly resource?: never };

type PathVariables<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathVariables<Rest>
  : never;

export interface Operation<
  Path extends string = string,
  Query extends Shape = Shape,
  Body extends Shape = Shape,
  Data extends z.ZodType = z.ZodType,
  E extends Effect = Effect,
> extends Declaration<Path, Query, Body, Data, E> {
  readonly kind: "operation";
  readonly params: z.ZodObject<Record<PathVariables<Path>, typeof Id>, z.core.$strict>;
  readonly queryObject: z.ZodObject<Query, z.core.$strict>;
  /** True if the response is a page: `data` is an array with `meta` beside it. */
  readonly paginated: boolean;
}

/**
 * Declares an operation of the interface. REST routes, OpenAPI, MCP tools, the pipeline and tests are derived from it.
 */
export function operation<
  const Path extends string,
  Data extends z.ZodType,
  Query extends Shape = Record<never, never>,
  Body extends Shape = Record<never, never>,
  const E extends Effect = Effect,
>(declaration: Declaration<Path, Query, Body, Data, E> & Readable<E>): Operation<Path, Query, Body, Data, E> {
  return createOperation(declaration);
}

/** Completes a declaration. Operations of the interface are declared with {@link operation}. */
export function createOperation<
  Path extends string,
  Query extends Shape,
  Body extends Shape,
  Data extends z.ZodType,
  E extends Effect,
>(declaration: Declaration<Path, Query, Body, Data, E>): Operation<Path, Query, Body, Data, E> {
  const query = declaration.query ?? ({} as Query);
  const variables = listPathVariables(declaration.path).map((name) => [name, Id] as const);
  const names = Object.keys(query);
  const { resource } = declaration;
  return {
    ...declaration,
    ...(resource && names.length > 0 ? { resource: `${resource}{?${names.join(",")}}` as const } : {}),
    kind: "operation",
    params: z.strictObject(Object.fromEntries(variables)) as Operation<Path, Query, Body, Data, E>["params"],
    queryObject: z.strictObject(query),
    paginated: "lastEvaluatedKey" in query,
  };
}

/** Returns the names of the variables in a path, in order. */
export function listPathVariables(path: string): string[] {
  return splitTemplate(path).filter((_, index) => index % 2 === 1);
}

const splitTemplates = new Map<string, readonly string[]>();

/** Replaces each pair of braces in a path or template with the result of `fill` for its content. */
export function fillTemplate(template: string, fill: (inside: string) => string): string {
  return splitTemplate(template)
    .map((piece, index) => (index % 2 === 0 ? piece : fill(piece)))
    .join("");
}

/**
 * Splits a template at its braces: texts at even indexes, contents of braces at odd ones. Results are cached; there are
 * few templates.
 */
function splitTemplate(template: string): readonly string[] {
  const cached = splitTemplates.get(template);
  if (cached) return cached;
  const parts = template.split(/[{}]/);
  splitTemplates.set(template, parts);
  return parts;
}

/** The input of a handler: path variables, query and body in one flat object. */
export type InputOf<O extends Operation> =
  O extends Operation<infer Path, infer Query, infer Body, z.ZodType>
    ? Record<PathVariables<Path>, string> & OutputOf<Query> & OutputOf<Body>
    : never;

// zod types an empty object as Record<string, never>, which cannot be intersected with the other parts.
type OutputOf<S extends Shape> = keyof S extends never ? unknown : z.output<z.ZodObject<S>>;

export interface PageOf<Row> {
  readonly rows: readonly Row[];
  readonly lastEvaluatedKey?: string | undefined;
  /** Returns the cursor that continues after so many rows of the page, at least one. */
  readonly cursorAfter?: (rows: number) => string;
}

/** The result of a handler: the data, or a page if the operation is paginated. */
export type ResultOf<O extends Operation> =
  O extends Operation<string, infer Query, Shape, infer Data>
    ? "lastEvaluatedKey" extends keyof Query
      ? z.output<Data> extends readonly (infer Row)[]
        ? PageOf<Row>
        : never
      : z.output<Data>
    : never;

/** Returns the schema of an operation's success envelope (specification 2.1). */
export function createEnvelope(operation: Operation): z.ZodObject {
  return z.object({
    success: z.literal(true),
    data: operation.data,
    ...(operation.paginated ? { meta: PageMeta } : {}),
  });
}

export const ErrorEnvelope = z.object({
  success: z.literal(false),
  error: z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()).optional() }),
});

/** Errors that every operation can return. */
export const commonErrors: readonly ProblemCode[] = [
  "validation_failed",
  "unauthorized",
  "invalid_token",
  "insufficient_scope",
  "rate_limited",
  "internal_error",
  "unavailable",
];

export interface InputParts {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/**
 * Splits one flat object of arguments into path, query and body. Unknown arguments go to the body, or to the query
 * without a body, where validation rejects them.
 */
export function splitInput(operation: Operation, input: Readonly<Record<string, unknown>>): InputParts {
  const params: Record<string, unknown> = {};
  const query: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  const rest = operation.body ? body : query;
  for (const [name, value] of Object.entries(input)) {
    if (Object.hasOwn(operation.params.shape, name)) params[name] = value;
    else if (Object.hasOwn(operation.queryObject.shape, name)) query[name] = value;
    else Object.defineProperty(rest, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return { params, query, body: operation.body ? body : undefined };
}

/**
 * Checks that no name occurs in two of path, query and body: a flat input would lose one of them.
 * @throws Problem `internal_error`
 */
export function assertFlat(name: string, operation: Operation): void {
  const names = [operation.params, operation.queryObject, operation.body].flatMap((part) =>
    Object.keys(part?.shape ?? {}),
  );
  const repeated = names.find((field, index) => names.indexOf(field) !== index);
  if (repeated) throw problem("internal_error", undefined, `${name} declares ${repeated} twice`);
}
