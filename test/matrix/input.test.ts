import { describe, expect } from "vitest";
import * as z from "zod";
import { type OperationName, operationNames, operations } from "../../src/contract/index.ts";
import { exampleArguments, replaced } from "../support/data/arguments.ts";
import { readState } from "../support/data/state.ts";
import { type Surface, surfaces } from "../support/servers/test-server.ts";
import { type Arguments, type MatrixData, test } from "./matrix-data.ts";

type Schema = z.core.JSONSchema.Schema;

/** One way to spoil the arguments of an operation, and the path that the refusal must name. */
interface Spoilt {
  readonly input: Arguments;
  readonly path: string;
}

describe.each(surfaces)("over %s", (surface) => {
  test.for(operationNames)("%s refuses arguments of a wrong type, or missing, by their path", async (name, {
    tenants,
  }) => {
    const { own } = tenants;
    const before = await readState(own.server.app.store, own.server.businessId);
    const caller = await own.server.as(surface);
    for (const { input, path } of [...wrongTypes(own, name, surface), ...missing(own, name)]) {
      const refusal = await caller.call(name, input).catch((error) => error);
      expect(refusal, path).toMatchObject({ code: "validation_failed" });
      const paths: string[] = refusal.details.issues.map((issue: { path: string }) => issue.path);
      expect(paths.filter((found) => found !== path && !found.startsWith(`${path}.`))).toEqual([]);
      expect(paths.length, path).toBeGreaterThan(0);
      if (surface === "REST") expect(refusal.status).toBe(400);
    }
    expect(await readState(own.server.app.store, own.server.businessId)).toEqual(before);
  });

  test.for(operationNames)("%s refuses unknown properties by their path", async (name, { tenants: { own } }) => {
    const before = await readState(own.server.app.store, own.server.businessId);
    const caller = await own.server.as(surface);
    for (const { input, path } of unknownProperties(own, name)) {
      const refusal = await caller.call(name, input).catch((error) => error);
      expect(refusal, path).toMatchObject({
        code: "validation_failed",
        details: { issues: [{ path, code: "unrecognized_keys" }] },
      });
      expect(refusal.details.issues, path).toHaveLength(1);
    }
    expect(await readState(own.server.app.store, own.server.businessId)).toEqual(before);
  });
});

describe("over REST", () => {
  test.for(operationNames)("%s refuses query parameters that it does not declare", async (name, {
    tenants: { own },
  }) => {
    const { server, inputs } = own;
    const before = await readState(server.app.store, server.businessId);
    const { method, path } = operations[name];
    const { params, body } = partsOf(name, inputs[name]);
    const url = path.replace(/\{(\w+)\}/g, (_, variable: string) => String(params[variable]));
    const response = await fetch(`${server.origin}/integrations/v1${url}?surprise=1`, {
      method,
      headers: {
        authorization: `Bearer ${await server.token()}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { details: { issues: { path: string }[] } } };
    expect(error.details.issues.map((issue) => issue.path)).toContain("surprise");
    expect(await readState(server.app.store, server.businessId)).toEqual(before);
  });
});

function partsOf(name: OperationName, input: Arguments) {
  const { params, body } = operations[name];
  const pick = (shape: object) =>
    Object.fromEntries(Object.entries(input).filter(([key]) => Object.hasOwn(shape, key)));
  return { params: pick(params.shape), body: body && pick(body.shape) };
}

/** Arguments that fill every field: the world's path variables, examples for the rest. */
function complete(own: MatrixData, name: OperationName): Record<string, unknown> {
  const variables = Object.keys(operations[name].params.shape).map((key) => [key, own.inputs[name][key]]);
  return { ...exampleArguments(name), ...Object.fromEntries(variables) };
}

function schemasOf(name: OperationName): { query: Schema; body: Schema } {
  const { queryObject, body } = operations[name];
  const json = (schema: z.ZodType) => z.toJSONSchema(schema, { io: "input" }) as Schema;
  return { query: json(queryObject), body: json(body ?? z.object({})) };
}

/** Every field, however deep, once with a value of another type. In a query, text is what everything comes as. */
function wrongTypes(own: MatrixData, name: OperationName, surface: Surface): Spoilt[] {
  const input = complete(own, name);
  const { query, body } = schemasOf(name);
  const inQuery = fieldsOf(query, []).filter(({ schema }) => surface === "MCP" || !isText(schema));
  return [...inQuery, ...fieldsOf(body, [])].flatMap(({ path, schema }) => {
    const wrong = wrongFor(schema);
    return wrong === undefined ? [] : { input: replaced(input, path, wrong), path: path.join(".") };
  });
}

function missing(own: MatrixData, name: OperationName): Spoilt[] {
  const input = complete(own, name);
  const { query, body } = schemasOf(name);
  return [...fieldsOf(query, []), ...fieldsOf(body, [])]
    .filter(({ required }) => required)
    .map(({ path }) => ({ input: replaced(input, path, undefined), path: path.join(".") }));
}

/** A stranger in every object that is not free-form. */
function unknownProperties(own: MatrixData, name: OperationName): Spoilt[] {
  const input = complete(own, name);
  const { body } = schemasOf(name);
  const objects = [[], ...fieldsOf(body, []).flatMap(({ path, schema }) => (schema.properties ? [path] : []))];
  return objects.map((at) => {
    const path = [...at, "surprise"];
    return { input: replaced(input, path, "x"), path: path.join(".") };
  });
}

interface Field {
  readonly path: readonly string[];
  readonly schema: Schema;
  readonly required: boolean;
}

/** The fields of an object schema and of what is inside them; the first item stands for all of a list. */
function fieldsOf({ properties = {}, required = [] }: Schema, at: readonly string[]): Field[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const schema = plain(property as Schema);
    const path = [...at, name];
    const items = plain((schema.items ?? {}) as Schema);
    const item: Field[] = schema.items ? [{ path: [...path, "0"], schema: items, required: false }] : [];
    const inside = [...fieldsOf(schema, path), ...fieldsOf(items, [...path, "0"])];
    return [{ path, schema, required: required.includes(name) }, ...item, ...inside];
  });
}

/** The schema beside null. */
function plain(schema: Schema): Schema {
  const others = (schema.anyOf ?? []).filter((option) => (option as Schema).type !== "null") as Schema[];
  return others.length === 1 ? (others[0] as Schema) : schema;
}

function isText({ type, enum: choices }: Schema): boolean {
  return type === "string" && choices === undefined;
}

/** Several types at once, as for a custom field's value, have nothing that is wrong for sure. */
function wrongFor(schema: Schema): unknown {
  switch (schema.type) {
    case "string":
      return schema.enum ? "nonsense" : 7;
    case "integer":
    case "number":
      return "seven";
    case "boolean":
      return "perhaps";
    case "array":
      // A single value stands for a list where agents call, but not this one.
      return { odd: true };
    case "object":
      return "text";
    default:
      return undefined;
  }
}
