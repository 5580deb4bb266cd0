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
