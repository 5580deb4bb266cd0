import * as z from "zod";
import { type CallName, operationNames, operations } from "../index.ts";
import { getAnnotation } from "./field-annotations.ts";
import { fillTemplate, listPathVariables, type Operation } from "./operation.ts";

/**
 * The URI of a resource template (RFC 6570, as far as templates here go: `{name}` and `{?name,…}`). Names without a
 * value are left out of the query.
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

/** A resource to point to, with a name that nobody outside the organisation wrote. */
export interface ResourceLink {
  readonly uri: string;
  readonly name: string;
}

/** Where the records in an operation's data can be read: one link for a record, one a row for rows; none for others. */
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

interface Home {
  readonly operation: Operation;
  /** What the path of its URI says after the record's id. */
  readonly tail: string;
  /** Whether the record has a name that staff gave it. */
  readonly named: boolean;
  /** Names of the record's own fields that make the URI. */
  readonly variables: readonly string[];
  /** Those without which there is none. */
  readonly required: readonly string[];
}

/** The reads that show records of each kind: what shows one alone goes before lists. */
const homes: ReadonlyMap<z.core.$ZodType, Home> = (() => {
  const found = new Map<z.core.$ZodType, Home>();
  const reads = operationNames.map((name) => operations[name]).filter(({ resource }) => resource !== undefined);
  const standsAlone = (operation: Operation) => !(operation.data instanceof z.ZodArray);
  for (const operation of [...reads.filter(standsAlone), ...reads.filter((read) => !standsAlone(read))]) {
    const ids = Object.keys(operation.queryObject.shape).filter((name) => name.endsWith("Id"));
    const required = listPathVariables(operation.path);
    const variables = [...required, ...(standsAlone(operation) ? [] : ids)];
    if (variables.length === 0 || requiresOtherArguments(operation)) continue;
    const { path } = operation;
    const tail = path.slice(path.lastIndexOf("}") + 2).replaceAll("/", " ");
    for (const schema of listRecordSchemas(operation.data)) {
      const field = schema instanceof z.ZodObject ? schema.shape["name"] : undefined;
      const named = field !== undefined && !getAnnotation(field)?.personal;
      if (!found.has(schema)) found.set(schema, { operation, tail, named, variables, required });
    }
  }
  return found;
})();

function createResourceLink(schema: z.core.$ZodType, row: unknown): ResourceLink | undefined {
  const home = homes.get(schema);
  if (!home || typeof row !== "object" || row === null) return undefined;
  const record = row as Readonly<Record<string, unknown>>;
  const { operation, variables, required } = home;
  const given = variables.filter((name) => typeof record[name] === "string");
  if (given.length === 0 || !required.every((name) => given.includes(name))) return undefined;
  const values = Object.fromEntries(given.map((name) => [name, record[name]]));
  return { uri: expandResource(operation.resource ?? "", values), name: describeResource(home, record, given) };
}

/** The name that staff gave a record; else what the resource is, and of which record. */
function describeResource(
  { operation, tail, named }: Home,
  record: Readonly<Record<string, unknown>>,
  given: readonly string[],
): string {
  const id = String(record[given.at(-1) ?? ""]);
  if (tail !== "") return `${tail} of ${id}`;
  const name = record["name"];
  return named && typeof name === "string" ? name : `${operation.audit.split(".")[0]} ${id}`;
}

function getRowSchema(data: z.core.$ZodType): z.core.$ZodType {
  return data instanceof z.ZodArray ? data.element : data;
}

function listRecordSchemas(data: z.core.$ZodType): readonly z.core.$ZodType[] {
  const row = getRowSchema(data);
  return row instanceof z.ZodUnion ? [row, ...row.options] : [row];
}

/** Whether a read needs an argument that is no field of what it shows. */
function requiresOtherArguments({ queryObject }: Operation): boolean {
  return !queryObject.safeParse({}).success;
}
