import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Tool } from "@modelcontextprotocol/server";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { scopes } from "../../src/contract/access/scopes.ts";
import { toolModes } from "../../src/contract/definition/tool-mode.ts";
import { isOperationName, operationNames, operations, workflowNames } from "../../src/contract/index.ts";
import { listToolDefinitions } from "../../src/tools/catalog/definitions.ts";
import { listSearchTools } from "../../src/tools/catalog/search.ts";
import { listToolCosts } from "../../src/tools/catalog/token-cost.ts";
import { listTools } from "../../src/tools/catalog/tool-modes.ts";

const all = new Set(scopes);

function tokensOf(tools: readonly Tool[]): number[] {
  return tools.map(({ name, title, description, inputSchema }) =>
    countTokens(JSON.stringify({ name, title, description, inputSchema })),
  );
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

test("all operations cost at most 6,850 tokens, and none more than 300", () => {
  const tools = listToolDefinitions(loadConfig({}), all).slice(0, 58);
  expect(tools.map(({ name }) => name)).toEqual(operationNames);
  const counts = tokensOf(tools);
  expect(sum(counts)).toBeLessThanOrEqual(6_850);
  expect(Math.max(...counts)).toBeLessThanOrEqual(300);
});

test("the other tools cost at most 140 tokens each, and the whole list at most 8,000", () => {
  const tools = listToolDefinitions(loadConfig({}), all).slice(58);
  expect(tools.map(({ name }) => name)).toEqual(["list_events", ...workflowNames, "run_batch", "get_connection"]);
  expect(Math.max(...tokensOf(tools))).toBeLessThanOrEqual(140);
  expect(sum(tokensOf(listToolDefinitions(loadConfig({}), all)))).toBeLessThanOrEqual(8_000);
});

test("operations that only read cost at most 2,500 tokens", () => {
  const tools = listToolDefinitions(loadConfig({ PROGRAMME_READ_ONLY: "true" }), all).filter(({ name }) =>
    isOperationName(name),
  );
  expect(tools.map(({ name }) => name)).toEqual(operationNames.filter((name) => operations[name].effect === "read"));
  expect(sum(tokensOf(tools))).toBeLessThanOrEqual(2_500);
});

test("search mode costs at most 600 tokens", () => {
  const tools = listSearchTools(loadConfig({ PROGRAMME_TOOL_MODE: "search" }), all);
  expect(tools).toHaveLength(3);
  expect(sum(tokensOf(tools))).toBeLessThanOrEqual(600);
});

test("the mode jobs costs at most 2,200 tokens", () => {
  const tools = listTools(loadConfig({ PROGRAMME_TOOL_MODE: "jobs" }), all);
  const search = ["find_tools", "describe_tool", "call_tool"];
  expect(tools.map(({ name }) => name)).toEqual([...workflowNames, "run_batch", "get_connection", ...search]);
  expect(sum(tokensOf(tools))).toBeLessThanOrEqual(2_200);
});

test("the counts that the program prints are those of the tools it lists", () => {
  for (const mode of toolModes) {
    const config = loadConfig({ PROGRAMME_TOOL_MODE: mode });
    expect(listToolCosts(config).map(({ tokens }) => tokens)).toEqual(tokensOf(listTools(config, all)));
  }
});

test("schemas have neither combinators nor type unions that hosts refuse, and are strict", () => {
  for (const { name, inputSchema } of listToolDefinitions(loadConfig({}), all)) {
    expect(inputSchema, name).toMatchObject({ type: "object", additionalProperties: false });
    expect(Object.keys(inputSchema), name).not.toEqual(expect.arrayContaining([expect.stringMatching(/Of$|^\$ref$/)]));
    expect(JSON.stringify(inputSchema), name).not.toMatch(/"type":\[/);
  }
});

test("the overview says what all tools cost, to the nearest 500 tokens", () => {
  const costs = listToolCosts(loadConfig({}));
  const tokens = Math.round(sum(costs.map((cost) => cost.tokens)) / 500) * 500;
  const overview = readFileSync(join(import.meta.dirname, "../../docs/overview.md"), "utf8");
  expect(overview).toContain(`**All tools in about ${tokens.toLocaleString("en")} tokens**`);
});
