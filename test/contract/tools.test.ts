import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { operationNames, operations } from "../../src/contract/index.ts";
import { buildMatrixData } from "../matrix/matrix-data.ts";
import { clients, readConfirmation, type ToolClient } from "../support/clients/clients.ts";
import { openTestServer, type TestServer, tenantTest } from "../support/servers/test-server.ts";

const directory = join(import.meta.dirname, "tools");
const connect = clients["2026-07-28 over stdio"] as (server: TestServer, token: string) => Promise<ToolClient>;

describe("the tools", () => {
  tenantTest("are these, to the letter", async ({ server }) => {
    const client = await connect(server, await server.token());
    const tools = await client.list();
    for (const tool of tools) {
      await expect(`${JSON.stringify(tool, null, 2)}\n`).toMatchFileSnapshot(join(directory, `${tool.name}.snap`));
    }
    const kept = existsSync(directory) ? readdirSync(directory) : [];
    expect(kept.filter((file) => !tools.some(({ name }) => `${name}.snap` === file))).toEqual([]);
  });

  tenantTest("answer as their output schemas say", async ({ server }) => {
    const { inputs } = await buildMatrixData(server);
    const client = await connect(server, await server.token());
    const schemas = new Map((await client.list()).map(({ name, outputSchema }) => [name, outputSchema]));
    const ajv = new Ajv2020({ strict: false });
    for (const name of operationNames) {
      const result = await client.call(name, inputs[name]);
      const schema = schemas.get(name);
      expect(schema, name).toBeDefined();
      const validate = ajv.compile(schema as object);
      validate(result.structuredContent);
      expect(validate.errors, name).toBeNull();
      expect(result.content[0], name).toMatchObject({ type: "text", text: expect.stringMatching(/./) });
    }
  });

  test("with structured results alone, declare every field that they return", async () => {
    const { server, close } = await openTestServer({ PROGRAMME_RESULTS: "structured", PROGRAMME_CONFIRM: "off" });
    onTestFinished(close);
    const { inputs } = await buildMatrixData(server);
    const { submissionId } = inputs.get_submission as { submissionId: string };
    const { programId, roundId } = await server.seed.round();
    const calls: Readonly<Record<string, object>> = {
      ...inputs,
      get_submission_brief: { submissionId },
      get_review_progress: { programId, roundId },
      get_history: { submissionId },
      list_open_work: { programId },
    };
    const client = await connect(server, await server.token());
    const schemas = new Map((await client.list()).map(({ name, outputSchema }) => [name, outputSchema]));
    const ajv = new Ajv2020({ strict: false });
    for (const [name, input] of Object.entries(calls)) {
      const result = await client.call(name as (typeof operationNames)[number], { ...input, select: "*" });
      expect(result.isError, `${name} ${JSON.stringify(result.content)}`).toBeFalsy();
      const schema = schemas.get(name) as { properties: { data: object } };
      const validate = ajv.compile(closeObjects(schema) as object);
      validate(result.structuredContent);
      expect(validate.errors, name).toBeNull();
      expect(Object.keys(closeObjects(schema.properties.data)), name).toContain("type");
    }
    const hidden = new Ajv2020({ strict: false }).compile(schemas.get("get_program") as object);
    expect(hidden({ data: { name: 1 } })).toBe(false);
  });

  test.each(Object.keys(clients))("ask as their output schemas say, a client of %s", async (revision) => {
    const { server, close } = await openTestServer({ PROGRAMME_CONFIRM: "ask" });
    onTestFinished(close);
    const { inputs } = await buildMatrixData(server);
    const client = (await clients[revision]?.(server, await server.token())) as ToolClient;
    const schemas = new Map((await client.list()).map(({ name, outputSchema }) => [name, outputSchema]));
    const ajv = new Ajv2020({ strict: false });
    for (const name of operationNames.filter((name) => operations[name].confirm?.(inputs[name]))) {
      const result = await client.call(name, inputs[name]);
      expect(result.isError, name).toBeFalsy();
      expect(readConfirmation(result).token, name).toMatch(/./);
      const schema = schemas.get(name) as { properties: Record<string, object> };
      const validate = ajv.compile({ ...schema, additionalProperties: false });
      validate(result.structuredContent);
      expect(validate.errors, name).toBeNull();
    }
  });
});

/** Returns a schema whose objects with declared properties accept no others. */
function closeObjects(schema: unknown): object {
  if (Array.isArray(schema)) return schema.map((each) => (typeof each === "object" ? closeObjects(each) : each));
  const entries = Object.entries(schema as object).map(([key, value]) => [
    key,
    typeof value === "object" && value !== null ? closeObjects(value) : value,
  ]);
  const closed = Object.fromEntries(entries);
  return "type" in closed && "properties" in closed ? { ...closed, additionalProperties: false } : closed;
}
