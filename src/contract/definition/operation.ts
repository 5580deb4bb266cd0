import * as z from "zod";
import { type ProblemCode, problem } from "../errors.ts";
import type { Scope } from "../scopes.ts";
import { Id } from "./fields.ts";
import { PageMeta } from "./page.ts";

/** What a call does to the world; every MCP hint and the need for a transaction follow from it. */
export type Effect = "read" | "create" | "update" | "destroy" | "send";

type Shape = Readonly<Record<string, z.ZodType>>;

interface Declaration<
  Path extends string,
  Query extends Shape,
  Body extends Shape,
  Data extends z.ZodType,
  E extends Effect,
> {
  /** One line: what the operation does. */
  readonly summary: string;
  /** What the summary and the fields cannot say. */
  readonly description?: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below `/integrations/v1`; variables in braces. */
  readonly path: Path;
  /** What a read shows, as a URI (RFC 6570) with the path's variables in braces; the query's names are added to it. */
  readonly resource?: ResourceUri;
  readonly scope: Scope;
  /** Scopes each of which will do as well as `scope`; what the call shows depends on which there are. */
  readonly anyOfScopes?: readonly Scope[];
  readonly effect: E;
  readonly query?: Query;
  readonly body?: z.ZodObject<Body, z.core.$strict>;
  readonly data: Data;
  /** Of a list without pages: the most rows that it ever has; a smaller `limit` of the call counts. */
  readonly maxRows?: number;
  readonly status?: 200 | 201;
  /** Name of the audit entry: entity type, dot, what happened. */
  readonly audit: `${string}.${string}`;
  /** Refusals beyond those that every operation can answer. */
  readonly errors?: readonly ProblemCode[];
  /** Scopes that some inputs need besides `scope`. */
  readonly conditionalScopes?: (input: Readonly<Record<string, unknown>>) => readonly Scope[];
  /**
   * What a call is about to do, in words, where somebody should be asked first: what it destroys, sends or decides
   * cannot be taken back. Nothing for inputs that need no question.
   */
  readonly confirm?: (input: Readonly<Record<string, unknown>>) => string | undefined;
  /** A quota that the call uses up when it succeeds. */
  readonly quota?: "export";
}

type ResourceUri = `programme://${string}`;

/** Every read, and nothing else, names its resource. */
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
  /** Whether the answer is a page: `data` an array, `meta` beside it. */
  readonly paginated: boolean;
}

/** Declares an operation of the interface: everything that REST, OpenAPI, MCP, the gate and the tests derive from. */
export function operation<
  const Path extends string,
  Data extends z.ZodType,
  Query extends Shape = Record<never, never>,
  Body extends Shape = Record<never, never>,
  const E extends Effect = Effect,
>(declaration: Declaration<Path, Query, Body, Data, E> & Readable<E>): Operation<Path, Query, Body, Data, E> {
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

/** Names of the variables in a path, in order. */
export function listPathVariables(path: string): string[] {
  return splitTemplate(path).filter((_, index) => index % 2 === 1);
}

const pieces = new Map<string, readonly string[]>();

/** A path or template with what stands for each of its braces' contents. */
export function fillTemplate(template: string, fill: (inside: string) => string): string {
  return splitTemplate(template)
    .map((piece, index) => (index % 2 === 0 ? piece : fill(piece)))
    .join("");
}

/** What is between the braces of a path or template, and inside them, in turns. Remembered: there are few. */
function splitTemplate(template: string): readonly string[] {
  const known = pieces.get(template);
  if (known) return known;
  const found = template.split(/[{}]/);
  pieces.set(template, found);
  return found;
}

/** What a handler is given: path variables, query and body in one flat object. */
export type InputOf<O extends Operation> =
  O extends Operation<infer Path, infer Query, infer Body, z.ZodType>
    ? Record<PathVariables<Path>, string> & OutputOf<Query> & OutputOf<Body>
    : never;

// zod types an empty object as Record<string, never>, which no other part could be joined to.
type OutputOf<S extends Shape> = keyof S extends never ? unknown : z.output<z.ZodObject<S>>;

/** One page of rows. */
export interface PageOf<Row> {
  readonly rows: readonly Row[];
  readonly lastEvaluatedKey?: string | undefined;
}

/** What a handler gives back: the data, or a page where the operation is paginated. */
export type ResultOf<O extends Operation> =
  O extends Operation<string, infer Query, Shape, infer Data>
    ? "lastEvaluatedKey" extends keyof Query
      ? z.output<Data> extends readonly (infer Row)[]
        ? PageOf<Row>
        : never
      : z.output<Data>
    : never;

/** The success envelope of an operation (specification 2.1). */
export function createEnvelope(operation: Operation): z.ZodObject {
  return z.object({
    success: z.literal(true),
    data: operation.data,
    ...(operation.paginated ? { meta: PageMeta } : {}),
  });
}

/** The failure envelope (specification 2.1). */
export const ErrorEnvelope = z.object({
  success: z.literal(false),
  error: z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()).optional() }),
});

/** Refusals that every operation can answer. */
export const commonErrors: readonly ProblemCode[] = [
  "validation_failed",
  "unauthorized",
  "invalid_token",
  "insufficient_scope",
  "rate_limited",
  "internal_error",
  "unavailable",
];

/** Path, query and body of a call, before validation. */
export interface Parts {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** Sorts one flat object of arguments into path, query and body. What fits nowhere stays in the body or the query, to be refused there. */
export function splitInput(operation: Operation, input: Readonly<Record<string, unknown>>): Parts {
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

/** The operation's declaration errors, or nothing: names that stand in two parts would be lost in a flat input. */
export function assertFlat(name: string, operation: Operation): void {
  const names = [operation.params, operation.queryObject, operation.body].flatMap((part) =>
    Object.keys(part?.shape ?? {}),
  );
  const twice = names.find((field, index) => names.indexOf(field) !== index);
  if (twice) throw problem("internal_error", undefined, `${name} declares ${twice} twice`);
}
