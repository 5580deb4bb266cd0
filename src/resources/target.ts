import { ResourceNotFoundError, UriTemplate } from "@modelcontextprotocol/server";
import { findMissingScopes, type Scope } from "../contract/access/scopes.ts";
import { getAnnotation } from "../contract/definition/field-annotations.ts";
import { listPathVariables, type Operation } from "../contract/definition/operation.ts";
import { parseQueryArgument } from "../contract/definition/query.ts";
import { type CallName, callNames, operations } from "../contract/index.ts";

/** The read that a URI refers to. */
export interface ResourceTarget {
  readonly name: CallName;
  readonly operation: Operation;
  /** Path variables and query in one flat object, before validation. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** A kind of resource: an operation that reads. */
export interface ResourceKind {
  readonly name: CallName;
  readonly operation: Operation;
  /** URI template (RFC 6570) with path variables and query. */
  readonly template: string;
  readonly path: UriTemplate;
  readonly variables: readonly string[];
}

/**
 * All kinds of resources. Templates without path variables come first, so that `persons/resolve` is not taken for a
 * person's id.
 */
export const resourceKinds: readonly ResourceKind[] = callNames
  .flatMap((name) => {
    const operation = operations[name];
    const template = operation.resource;
    if (template === undefined) return [];
    const variables = listPathVariables(operation.path);
    return [{ name, operation, template, path: new UriTemplate(template.replace(/\{\?.*$/, "")), variables }];
  })
  .sort((a, b) => a.variables.length - b.variables.length);

/** Upper bound, longer than any template expands to with valid arguments. */
export const maxUriChars = 8_192;
/** The characters of a URI (RFC 3986) without fragments. */
const uriText = /^programme:\/\/[\w\-.~:/?@!$&'()*+,;=%[\]]+$/;

/** Returns the read that a URI refers to, or `undefined` if the URI is malformed, too long or matches no template. */
export function parseTarget(uri: string): ResourceTarget | undefined {
  if (uri.length > maxUriChars || !uriText.test(uri)) return undefined;
  const queryStart = uri.indexOf("?");
  const path = queryStart < 0 ? uri : uri.slice(0, queryStart);
  for (const kind of resourceKinds) {
    const variables = kind.path.match(path);
    if (!variables) continue;
    try {
      const query = queryStart < 0 ? {} : parseQuery(kind.operation, uri.slice(queryStart + 1));
      if (!query) return undefined;
      const params = Object.entries(variables).map(([name, value]) => [name, decodeURIComponent(String(value))]);
      return { name: kind.name, operation: kind.operation, input: { ...Object.fromEntries(params), ...query } };
    } catch {
      // The path is not percent-encoded UTF-8.
      return undefined;
    }
  }
  return undefined;
}

/** Creates the error for a URI that does not exist or that the caller must not know of. */
export function createNotFoundError(uri: string): ResourceNotFoundError {
  return new ResourceNotFoundError(shortenUri(uri));
}

/** Returns the beginning of a URI for error messages. */
export function shortenUri(uri: string): string {
  return uri.slice(0, 512);
}

/** Parses a query. Returns `undefined` if it repeats a name or has one that the operation does not declare. */
function parseQuery(operation: Operation, text: string): Record<string, unknown> | undefined {
  const query: Record<string, unknown> = {};
  for (const pair of text.split("&")) {
    const [name = "", ...value] = pair.split("=");
    if (!Object.hasOwn(operation.queryObject.shape, name) || Object.hasOwn(query, name)) return undefined;
    query[name] = parseQueryArgument(operation, name, decodeURIComponent(value.join("=")));
  }
  return query;
}

/** Returns the scopes that a read needs and the caller lacks. */
export function findMissingReadScopes(
  scopes: ReadonlySet<Scope>,
  { operation, input }: Omit<ResourceTarget, "name">,
): Scope[] {
  const conditional = operation.conditionalScopes?.(input) ?? [];
  return [...findMissingScopes(operation, scopes), ...conditional.filter((scope) => !scopes.has(scope))];
}

/** Returns whether a URI contains personal data in its query: an address, an external id or a name. */
export function isPersonal({ operation, input }: ResourceTarget): boolean {
  const { shape } = operation.queryObject;
  return Object.keys(input).some((name) => {
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined;
    return schema !== undefined && getAnnotation(schema)?.personal === true;
  });
}
