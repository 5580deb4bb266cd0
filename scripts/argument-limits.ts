import * as z from "zod";
import { Id } from "../src/contract/definition/fields.ts";
import { type OperationName, operationNames, operations } from "../src/contract/index.ts";

type Schema = z.core.JSONSchema.BaseSchema;

/** The limit of one argument. `externalRefs[]` is an entry of a list, `customFields{}` a value of a map. */
interface Bound {
  readonly path: string;
  readonly limit: string;
}

/** Every id has the same limit, so it is stated once. */
const [idLimit] = boundsIn(z.toJSONSchema(Id), "").map(({ limit }) => limit);
const isId = ({ path, limit }: Bound) => /Ids?(\[\])?$/.test(path) && limit === idLimit;

/**
 * Renders the section of `docs/limits.md` with the limits of all arguments, from the contract's schemas. Arguments
 * that share a limit and their operations share a row.
 */
export function argumentLimits(): string {
  const bounds = operationNames.flatMap((name) => boundsOf(name).map((bound) => ({ ...bound, name })));
  const byArgument = Map.groupBy(
    bounds.filter((bound) => !isId(bound)),
    ({ path, limit }) => `${path} ${limit}`,
  );
  const rows = [...byArgument.values()].map((same) => ({
    path: same[0]?.path ?? "",
    limit: same[0]?.limit ?? "",
    names: same.map(({ name }) => `\`${name}\``).join(", "),
  }));
  const merged = [...Map.groupBy(rows, ({ limit, names }) => `${limit} ${names}`).values()].map(
    (same) => `| ${same.map(({ path }) => `\`${path}\``).join(", ")} | ${same[0]?.limit} | ${same[0]?.names} |`,
  );
  return `## Arguments

The contract limits these arguments, whether or not the specification does. \`[]\` stands for each entry of a list, \`{}\` for each value of a map. Other values fail with 400 \`validation_failed\`. An id has ${idLimit}.

| argument | limit | of |
| --- | --- | --- |
${merged.join("\n")}
`;
}

function boundsOf(name: OperationName): Bound[] {
  const { queryObject, body } = operations[name];
  const schemas = [queryObject, ...(body ? [body] : [])];
  return schemas.flatMap((schema) => boundsIn(z.toJSONSchema(schema, { io: "input" }), ""));
}

function boundsIn(schema: Schema, path: string): Bound[] {
  const { properties = {}, items, additionalProperties, anyOf = [] } = schema;
  const own = [
    limitOf("characters", schema.minLength, schema.maxLength),
    limitOf("entries", schema.minItems, schema.maxItems),
  ];
  const inside: [Schema | boolean | undefined, string][] = [
    ...anyOf.map((option): [Schema, string] => [option as Schema, path]),
    ...Object.entries(properties).map(([key, property]): [Schema, string] => [
      property as Schema,
      path === "" ? key : `${path}.${key}`,
    ]),
    [items as Schema | undefined, `${path}[]`],
    [additionalProperties as Schema | boolean | undefined, `${path}{}`],
  ];
  return [
    ...[...own, rangeOf(schema)].flatMap((limit) => (limit === undefined ? [] : [{ path, limit }])),
    ...inside.flatMap(([part, at]) => (typeof part === "object" ? boundsIn(part, at) : [])),
  ];
}

function limitOf(unit: string, min: number | undefined, max: number | undefined): string | undefined {
  if (max === undefined) return undefined;
  return `${min ? `${min} to` : "at most"} ${max.toLocaleString("en-US")} ${unit}`;
}

/** Returns a number's range. Returns undefined for counters and page sizes, which accept any integer. */
function rangeOf({ type, minimum, maximum }: Schema): string | undefined {
  if (minimum === undefined || maximum === undefined) return undefined;
  if (type === "integer" && maximum === Number.MAX_SAFE_INTEGER) return undefined;
  return `${minimum} to ${maximum}`;
}
