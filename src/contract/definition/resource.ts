import { type CallName, operationNames, operations } from "../index.ts";
import { getAnnotation } from "./field-annotations.ts";
import { fillTemplate, listPathVariables, type Operation } from "./operation.ts";
import { type AnySchema, getFields, getRowSchema, getSchemaType, visitSchema } from "./schema-visitor.ts";

/**
 * Expands a resource template (RFC 6570, limited to `{name}` and `{?name,…}`) to a URI. Names without a value are left
 * out of the query.
 */
export function expandResource(template: string, values: Readonly<Record<string, unknown>>): string {
  return fillTemplate(template, (names) =>
    names.startsWith("?") ? formatQuery(names, values) : getTemplateValue(names, values),
  );
}

function getTemplateValue(name: string, values: Readonly<Record<string, unknown>>): string {
  const value = values[name];
  return value === undefined || value === null ? "" : encodeURIComponent(String(value));
}

function formatQuery(names: string, values: Readonly<Record<string, unknown>>): string {
  const given = names
    .slice(1)
    .split(",")
    .filter((name) => values[name] !== undefined && values[name] !== null);
  return given.length === 0 ? "" : `?${given.map((name) => `${name}=${getTemplateValue(name, values)}`).join("&")}`;
}

/** A link to a resource. Its name never contains text written outside the organisation. */
export interface ResourceLink {
  readonly uri: string;
  readonly name: string;
}

/**
 * Returns links to the records in an operation's data: one for a single record, one per row for a list, none for data
 * that cannot be read as a resource.
 */
export function createResourceLinks(name: CallName, data: unknown): readonly ResourceLink[] {
  const schema = getRowSchema(operations[name].data);
  if (!Array.isArray(data)) return [createResourceLink(schema, data)].filter((link) => link !== undefined);
  const links = new Map<string, ResourceLink>();
  for (const row of data) {
    const link = createResourceLink(schema, row);
    if (link) links.set(link.uri, link);
  }
  return [...links.values()];
}

interface RecordRead {
  readonly operation: Operation;
  /** The words before the record's id in the resource's name. */
  readonly kind: string;
  /** True if staff gave the record a name. */
  readonly named: boolean;
  /** Fields of the record that fill the URI template. */
  readonly variables: readonly string[];
  /** The variables that must have a value. */
  readonly required: readonly string[];
}

/** The read that shows each kind of record. Reads of a single record take precedence over lists. */
const recordReads: ReadonlyMap<AnySchema, RecordRead> = (() => {
  const readsBySchema = new Map<AnySchema, RecordRead>();
  const reads = operationNames.map((name) => operations[name]).filter(({ resource }) => resource !== undefined);
  const standsAlone = (operation: Operation) => getSchemaType(operation.data) !== "array";
  for (const operation of [...reads.filter(standsAlone), ...reads.filter((read) => !standsAlone(read))]) {
    const ids = Object.keys(operation.queryObject.shape).filter((name) => name.endsWith("Id"));
    const required = listPathVariables(operation.path);
    const variables = [...required, ...(standsAlone(operation) ? [] : ids)];
    if (variables.length === 0 || requiresOtherArguments(operation)) continue;
    const { path, audit } = operation;
    const tail = path.slice(path.lastIndexOf("}") + 2).replaceAll("/", " ");
    const kind = tail === "" ? `${audit.split(".")[0]} ` : `${tail} of `;
    for (const schema of listRecordSchemas(operation.data)) {
      const field = getFields(schema)?.["name"];
      const named = tail === "" && field !== undefined && !getAnnotation(field)?.personal;
      if (!readsBySchema.has(schema)) readsBySchema.set(schema, { operation, kind, named, variables, required });
    }
  }
  return readsBySchema;
})();

function createResourceLink(schema: AnySchema, row: unknown): ResourceLink | undefined {
  const recordRead = recordReads.get(schema);
  if (!recordRead || typeof row !== "object" || row === null) return undefined;
  const record = row as Readonly<Record<string, unknown>>;
  const { operation, variables, required } = recordRead;
  const given = variables.filter((name) => typeof record[name] === "string");
  if (given.length === 0 || !required.every((name) => given.includes(name))) return undefined;
  const values = Object.fromEntries(given.map((name) => [name, record[name]]));
  return { uri: expandResource(operation.resource ?? "", values), name: describeResource(recordRead, record, given) };
}

/** Returns the name that staff gave a record, or else the kind of resource and the record's id. */
function describeResource(
  { kind, named }: RecordRead,
  record: Readonly<Record<string, unknown>>,
  given: readonly string[],
): string {
  const name = record["name"];
  return named && typeof name === "string" ? name : `${kind}${record[given.at(-1) ?? ""]}`;
}

function listRecordSchemas(data: AnySchema): readonly AnySchema[] {
  const row = getRowSchema(data);
  return visitSchema(row, { union: (options) => [row, ...options], other: () => [row] });
}

/** Returns whether a read requires a query argument that is not a field of the record. */
function requiresOtherArguments({ queryObject }: Operation): boolean {
  return !queryObject.safeParse({}).success;
}
