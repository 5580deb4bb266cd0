/** The parts of an OpenAPI 3.1 document that the pages show. */
export interface OpenapiDocument {
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, SchemaObject>> };
}

interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: { readonly content: MediaTypes };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: MediaTypes }>>;
}

export interface ParameterObject {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: SchemaObject;
  readonly example?: unknown;
}

type MediaTypes = Readonly<Record<"application/json", { readonly schema: SchemaObject; readonly example?: unknown }>>;

export interface SchemaObject {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly items?: SchemaObject;
  readonly anyOf?: readonly SchemaObject[];
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly required?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** An operation with its place in the document. */
export interface ReferenceOperation extends OperationObject {
  readonly method: string;
  readonly path: string;
}

export function listReferenceOperations({ paths }: OpenapiDocument): readonly ReferenceOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

/** Returns the name of the schema that a reference points to. */
export function getSchemaName(reference: string): string {
  return reference.replace("#/components/schemas/", "");
}

/** Formats a request of an operation as a command, with example values and a placeholder for the token. */
export function formatCurl(
  { method, path, parameters = [], requestBody }: ReferenceOperation,
  baseUrl: string,
): string {
  const values = new Map(parameters.map(({ name, example }) => [name, encodeURIComponent(String(example ?? name))]));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => values.get(name) ?? name);
  const required = parameters.filter(({ in: place, required: isRequired }) => place === "query" && isRequired);
  const query = required.map(({ name }) => `${name}=${values.get(name)}`).join("&");
  const body = requestBody?.content["application/json"].example;
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quote(`${baseUrl}${filled}${query === "" ? "" : `?${query}`}`)}`,
    `-H ${quote("Authorization: Bearer <your access token>")}`,
    ...(body === undefined
      ? []
      : [`-H ${quote("Content-Type: application/json")}`, `-d ${quote(JSON.stringify(body))}`]),
  ].join(" \\\n  ");
}

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
