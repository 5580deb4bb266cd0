import { ResourceNotFoundError, UriTemplate } from "@modelcontextprotocol/server";
import { getAnnotation } from "../contract/definition/field-annotations.ts";
import { listPathVariables, type Operation } from "../contract/definition/operation.ts";
import { parseQueryArgument } from "../contract/definition/query.ts";
import { type CallName, callNames, operations } from "../contract/index.ts";
import { findMissingScopes, type Scope } from "../contract/scopes.ts";

/** A read that a URI stands for. */
export interface ResourceTarget {
  readonly name: CallName;
  readonly operation: Operation;
  /** Path variables and query in one flat object, not yet validated. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** A kind of resource: an operation that reads. */
export interface ResourceKind {
  readonly name: CallName;
  readonly operation: Operation;
  /** RFC 6570: path variables, then what the query may name. */
  readonly template: string;
  /** The template without its query. */
  readonly path: UriTemplate;
  readonly variables: readonly string[];
}

/** Everything that can be read; templates without path variables first, so that `persons/resolve` is no person's id. */
export const kinds: readonly ResourceKind[] = callNames
  .flatMap((name) => {
    const operation = operations[name];
    const template = operation.resource;
    if (template === undefined) return [];
    const variables = listPathVariables(operation.path);
    return [{ name, operation, template, path: new UriTemplate(template.replace(/\{\?.*$/, "")), variables }];
  })
  .sort((a, b) => a.variables.length - b.variables.length);

/** Longer than the longest that a template makes of valid arguments. */
export const maxUriChars = 8_192;
/** What a URI is written in (RFC 3986), without fragments. */
const uriText = /^programme:\/\/[\w\-.~:/?@!$&'()*+,;=%[\]]+$/;

/** What a URI stands for; nothing where it is malformed, too long or of no template. */
export function parseTarget(uri: string): ResourceTarget | undefined {
  if (uri.length > maxUriChars || !uriText.test(uri)) return undefined;
  const mark = uri.indexOf("?");
  const path = mark < 0 ? uri : uri.slice(0, mark);
  for (const kind of kinds) {
    const matched = kind.path.match(path);
    if (!matched) continue;
    try {
      const query = mark < 0 ? {} : parseQuery(kind.operation, uri.slice(mark + 1));
      if (!query) return undefined;
      const params = Object.entries(matched).map(([name, value]) => [name, decodeURIComponent(String(value))]);
      return { name: kind.name, operation: kind.operation, input: { ...Object.fromEntries(params), ...query } };
    } catch {
      // Not percent-encoded UTF-8.
      return undefined;
    }
  }
  return undefined;
}

/** What is said of a URI that stands for nothing, or for nothing that the caller could know of. */
export function createNotFoundError(uri: string): ResourceNotFoundError {
  return new ResourceNotFoundError(shortenUri(uri));
}

/** As much of a URI as an error repeats. */
export function shortenUri(uri: string): string {
  return uri.slice(0, 512);
}

/** Arguments of a query; nothing where it names one twice, or one that the operation does not know. */
function parseQuery(operation: Operation, text: string): Record<string, unknown> | undefined {
  const query: Record<string, unknown> = {};
  for (const pair of text.split("&")) {
    const [name = "", ...value] = pair.split("=");
    if (!Object.hasOwn(operation.queryObject.shape, name) || Object.hasOwn(query, name)) return undefined;
    query[name] = parseQueryArgument(operation, name, decodeURIComponent(value.join("=")));
  }
  return query;
}

/** What a read needs that a caller's scopes do not hold. */
export function findMissingReadScopes(
  scopes: ReadonlySet<Scope>,
  { operation, input }: Omit<ResourceTarget, "name">,
): Scope[] {
  const also = operation.conditionalScopes?.(input) ?? [];
  return [...findMissingScopes(operation, scopes), ...also.filter((scope) => !scopes.has(scope))];
}

/** Whether a URI names somebody in its query: by an address, an outside id, a name searched for. */
export function isPersonal({ operation, input }: ResourceTarget): boolean {
  const { shape } = operation.queryObject;
  return Object.keys(input).some((name) => {
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined;
    return schema !== undefined && getAnnotation(schema)?.personal === true;
  });
}
