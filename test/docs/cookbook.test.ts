import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { nodeTypes } from "./n8n-nodes.ts";
import { readWorkflow, type WorkflowNode } from "./n8n-workflow.ts";
import { pageAt, root } from "./pages.ts";
import { testRecipes } from "./recipes.ts";
import { openInterpreter } from "./workflow-runner.ts";

const files = readdirSync(join(root, "examples/n8n")).filter((file) => file !== "nodes.json");

const listExpressions = (value: unknown): string[] => {
  if (typeof value === "string") return value.startsWith("=") ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(listExpressions) : [];
};

describe.each(files)("%s", (file) => {
  const workflow = readWorkflow(file);
  const names = workflow.nodes.map(({ name }) => name);

  test("has nodes of known types, versions and parameters, which are all reached from the first", () => {
    expect(new Set(names).size).toBe(names.length);
    for (const { name, type, typeVersion, parameters, credentials = {} } of workflow.nodes) {
      const known = nodeTypes[type];
      expect(known?.versions, `${name}: ${type}`).toContain(typeVersion);
      expect(known?.parameters, name).toEqual(expect.arrayContaining(Object.keys(parameters)));
      expect(known?.credentials ?? [], name).toEqual(expect.arrayContaining(Object.keys(credentials)));
    }
    const first = names[0] ?? "";
    expect(workflow.nodes[0]?.type).toMatch(/Trigger$|\.webhook$/);
    const reached = new Set([first]);
    for (const name of reached) for (const { node } of workflow.connections[name]?.main.flat() ?? []) reached.add(node);
    expect([...reached].toSorted()).toEqual(names.toSorted());
    expect(Object.keys(workflow.connections).filter((name) => !names.includes(name))).toEqual([]);
  });

  test("refers to its own nodes, and has no secret", () => {
    for (const expression of listExpressions(workflow.nodes.map(({ parameters }) => parameters))) {
      for (const [, name] of expression.matchAll(/\$\('([^']+)'\)/g)) expect(names, expression).toContain(name);
    }
    const text = JSON.stringify(workflow);
    expect(text).not.toMatch(/[0-9a-f]{64}|whsec_|Bearer |"token":/);
    for (const { credentials = {} } of workflow.nodes)
      for (const credential of Object.values(credentials)) expect(Object.keys(credential)).toEqual(["id", "name"]);
    const addresses = [...text.matchAll(/https?:\/\/([^/"\s]+)/g)].map(([, host]) => host);
    expect(addresses.filter((host) => !host?.endsWith(".example.org"))).toEqual([]);
  });

  test("is explained in the cookbook", () => {
    const { links, text } = pageAt("docs/cookbook.md");
    expect(links).toContain(`../examples/n8n/${file}`);
    for (const { name } of workflow.nodes.filter(isSetting)) expect(text).toContain(name);
  });
});

const isSetting = ({ type }: WorkflowNode) => type === "n8n-nodes-base.set";

testRecipes(openInterpreter);
