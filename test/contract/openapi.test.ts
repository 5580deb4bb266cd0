import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { commonErrors, listPathVariables } from "../../src/contract/definition/operation.ts";
import { errorCatalog } from "../../src/contract/errors.ts";
import { getToolset, nounNames, operationNames, operations } from "../../src/contract/index.ts";
import { getOpenapiDocument } from "../../src/transport/rest/openapi.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read the document without types
type Json = any;

const document: Json = getOpenapiDocument();
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajvFormats.default(ajv);
ajv.addSchema({ $id: "openapi", ...document });

/** The validator of the schema at a place in the document, references and all. */
function validatorAt(...keys: string[]): ValidateFunction {
  const pointer = keys.map((key) => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
  return ajv.compile({ $ref: `openapi#/${pointer}` });
}

function expectValid(validate: ValidateFunction, value: unknown, place: string): void {
  const valid = validate(value);
  expect(validate.errors ?? [], place).toEqual([]);
  expect(valid).toBe(true);
}

describe("the OpenAPI document", () => {
  test("has every operation once, under its path, method and name, and nothing else", () => {
    const described = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
      Object.entries<Json>(item).map(([method, { operationId, tags }]) => [operationId, method, path, tags]),
    );
    const declared = operationNames.map((name) => {
      const { method, path } = operations[name];
      return [name, method.toLowerCase(), path, [getToolset(name)]];
    });
    expect(described.toSorted()).toEqual(declared.toSorted());
  });

  test("says what it is and how to be let in", () => {
    expect(document).toMatchObject({
      openapi: "3.1.0",
      info: { version: "2.0.0" },
      servers: [{ url: "/integrations/v1" }],
      security: [{ bearer: [] }],
      components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    });
    expect(document.tags.map((tag: Json) => tag.name)).toEqual(nounNames);
  });

  test("has no missing and no unused references", () => {
    const text = JSON.stringify(document);
    const referred = new Set([...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name));
    expect([...referred].toSorted()).toEqual(Object.keys(document.components.schemas).toSorted());
    expect(text).not.toContain("#/$defs");
  });
});

describe.each(operationNames)("%s", (name) => {
  const operation = operations[name];
  const method = operation.method.toLowerCase();
  const described: Json = document.paths[operation.path][method];
  const place = ["paths", operation.path, method];

  test("describes its parameters, with valid examples", () => {
    const parameters: Json[] = described.parameters ?? [];
    const named = (where: string) => parameters.filter((each) => each.in === where).map((each) => each.name);
    expect(named("path")).toEqual(listPathVariables(operation.path));
    expect(named("query")).toEqual(Object.keys(operation.queryObject.shape));
    expect(named("header")).toEqual(operation.effect === "read" ? [] : ["Idempotency-Key"]);
    for (const [index, parameter] of parameters.entries()) {
      const optional = parameter.in !== "path" && operation.queryObject.safeParse({}).success;
      expect(parameter.required ?? false, parameter.name).toBe(
        parameter.in === "path" || (!optional && isRequired(parameter)),
      );
      if (parameter.in === "header") continue;
      const validate = validatorAt(...place, "parameters", String(index), "schema");
      expectValid(validate, parameter.example, parameter.name);
    }
  });

  function isRequired(parameter: Json): boolean {
    const field = operation.queryObject.shape[parameter.name];
    return parameter.in === "query" && field !== undefined && !field.safeParse(undefined).success;
  }

  test("describes its body, with a valid example, and refuses unknown properties", () => {
    expect("requestBody" in described).toBe(operation.body !== undefined);
    if (!operation.body) return;
    expect(described.requestBody.required).toBe(true);
    const { example } = described.requestBody.content["application/json"];
    const validate = validatorAt(...place, "requestBody", "content", "application/json", "schema");
    expectValid(validate, example, "body");
    expect(validate({ ...example, surprise: true })).toBe(false);
    operation.body.parse(example);
  });

  test("describes its success response, with a valid example", () => {
    const status = String(operation.status ?? 200);
    const { example } = described.responses[status].content["application/json"];
    const validate = validatorAt(...place, "responses", status, "content", "application/json", "schema");
    expectValid(validate, example, "success");
    expect(validate({ success: false, data: example.data })).toBe(false);
    expect(Object.keys(described.responses).filter((code) => code.startsWith("2"))).toEqual([status]);
  });

  test("describes each error response under its status, with a valid example", () => {
    const codes = [...commonErrors, ...(operation.errors ?? [])];
    for (const code of codes) {
      const { status } = errorCatalog[code];
      expect(Object.keys(described.responses), code).toContain(String(status));
      const { examples } = described.responses[status].content["application/json"];
      expect(Object.keys(examples), code).toContain(code);
      const validate = validatorAt(...place, "responses", String(status), "content", "application/json", "schema");
      expectValid(validate, examples[code].value, code);
    }
    const statuses = new Set(codes.map((code) => String(errorCatalog[code].status)));
    const more = operation.method !== "GET" ? ["413", "415", "422"] : [];
    const refused = Object.keys(described.responses).filter((status) => !status.startsWith("2"));
    expect(new Set(refused)).toEqual(statuses.union(new Set(more)));
  });
});
