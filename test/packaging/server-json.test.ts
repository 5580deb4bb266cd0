import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import packageJson from "../../package.json" with { type: "json" };
import { loadConfig } from "../../src/config/load.ts";
import { settings } from "../../src/config/table.ts";
import { root } from "./folder.ts";

/** The rules of the registry's schema of 2025-12-11 for the members used here; it allows others, which would be slips. */
const input = {
  description: z.string().min(1),
  format: z.enum(["string", "number", "boolean", "filepath"]).optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  default: z.string().optional(),
  choices: z.array(z.string()).min(1).optional(),
};
const keyValue = z.strictObject({
  ...input,
  name: z.string().min(1),
  value: z.string().optional(),
  variables: z.record(z.string(), z.strictObject(input)).optional(),
});
const release = z
  .string()
  .max(255)
  .regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/);
const serverJson = z.strictObject({
  $schema: z.literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: release,
  websiteUrl: z.url(),
  packages: z.array(
    z.strictObject({
      registryType: z.enum(["npm", "mcpb"]),
      identifier: z.string().min(1),
      version: release.optional(),
      runtimeHint: z.literal("npx").optional(),
      fileSha256: z
        .string()
        .regex(/^[a-f0-9]{64}$/)
        .optional(),
      transport: z.strictObject({ type: z.literal("stdio") }),
      environmentVariables: z.array(keyValue),
    }),
  ),
  remotes: z.array(
    z.strictObject({
      type: z.literal("streamable-http"),
      url: z.string().regex(/^(https?:\/\/[^\s]+|\{[a-zA-Z_][a-zA-Z0-9_]*\}[^\s]*)$/),
      variables: z.record(z.string(), z.strictObject(input)),
      headers: z.array(keyValue),
    }),
  ),
});

const document = serverJson.parse(JSON.parse(readFileSync(join(root, "server.json"), "utf8")));
const [npm, mcpb] = document.packages;
const [remote] = document.remotes;

describe("the registry entry", () => {
  test("names the package as it names itself", () => {
    expect(document).toMatchObject({ name: packageJson.mcpName, version: packageJson.version });
    expect(npm).toMatchObject({ registryType: "npm", identifier: packageJson.name, version: packageJson.version });
    // The registry's own rule for bundles.
    expect(mcpb).toMatchObject({ registryType: "mcpb", identifier: expect.stringMatching(/^https:.*mcp.*\.mcpb$/) });
  });

  test("uses existing settings with valid values", () => {
    for (const { environmentVariables } of document.packages) {
      const given = environmentVariables.map(({ name, default: value = "" }) => [name, value] as const);
      expect(() => loadConfig(Object.fromEntries(given))).not.toThrow();
      for (const { choices = [], default: value = "", name } of environmentVariables) {
        if (choices.length > 0) expect(choices).toContain(value);
        for (const choice of choices) expect(() => loadConfig({ [name]: choice })).not.toThrow();
      }
    }
  });

  test("marks exactly the secrets", () => {
    const secret = npm?.environmentVariables.filter(({ isSecret }) => isSecret).map(({ name }) => name);
    expect(secret).toEqual(["PROGRAMME_TOKEN"]);
    expect(settings.find(([, { variable }]) => variable === "PROGRAMME_TOKEN")?.[1].option).toBeUndefined();
    expect(remote?.headers).toMatchObject([{ name: "Authorization", isSecret: true, isRequired: true }]);
  });

  test("declares every variable of an address or header", () => {
    const texts = [
      { text: remote?.url ?? "", variables: remote?.variables },
      ...(remote?.headers ?? []).map(({ value = "", variables }) => ({ text: value, variables })),
    ];
    for (const { text, variables = {} } of texts) {
      expect([...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1])).toEqual(Object.keys(variables));
    }
  });
});
