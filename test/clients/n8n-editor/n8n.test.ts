import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { WorkflowNode } from "../../docs/n8n-workflow.ts";
import { root } from "../../docs/pages.ts";
import { openChat, testRecipes } from "../../docs/recipes.ts";
import { openTutorial } from "../../docs/tutorial.ts";
import { openAs } from "../../identity/browser-session.ts";
import { openMemoryServer } from "../../support/data/exports.ts";
import type { TestServer } from "../../support/servers/test-server.ts";
import { waitFor } from "../../support/wait.ts";
import { type N8n, openN8n } from "./n8n.ts";
import { createRunner, importWorkflow } from "./runner.ts";

let n8n: N8n;

beforeAll(async () => {
  n8n = await openN8n();
  return () => n8n.close();
}, 1_200_000);

testRecipes(async () => createRunner(n8n));

/** Opens a service with a submission that the tutorial's nodes withdraw, and gives the workflow of these nodes. */
async function openWithdrawal() {
  const server = await openMemoryServer({ PROGRAMME_CONFIRM: "ask" });
  const { submissionId, version } = await server.seed.submission({ state: "IN_REVIEW" });
  const { chatUrl, texts } = await openChat();
  const [mcpClient] = JSON.parse(readFileSync(join(root, "examples/n8n/nodes.json"), "utf8")).nodes;
  const tutorial = openTutorial("docs/tutorials/n8n.md");
  const createNode = (name: string, marker: string): WorkflowNode => ({
    ...mcpClient,
    name,
    credentials: { httpBearerAuth: { id: "", name: "Programme: access token" } },
    parameters: {
      ...mcpClient.parameters,
      endpointUrl: `${server.origin}/mcp`,
      tool: { ...mcpClient.parameters.tool, value: "withdraw_submission" },
      jsonInput: `=${tutorial.find(marker).text.replace("<submissionId>", submissionId).replace("<version>", String(version))}`,
    },
  });
  const post = {
    name: "Post to chat",
    type: "n8n-nodes-base.httpRequest",
    typeVersion: 4.2,
    parameters: {
      method: "POST",
      url: chatUrl,
      sendBody: true,
      specifyBody: "json",
      jsonBody: "={{ JSON.stringify({ text: $json.structuredContent.confirmation.url ?? 'no link' }) }}",
      options: {},
    },
  };
  const trigger = { name: "When clicked", type: "n8n-nodes-base.manualTrigger", typeVersion: 1, parameters: {} };
  const nodes = [trigger, createNode("Ask", "asks"), post, createNode("Confirm", "confirms")].map((node, index) => ({
    ...node,
    id: `node-${index}`,
    position: [index * 220, 0],
  }));
  const next = (index: number) => ({ main: [[{ node: nodes[index + 1]?.name ?? "", type: "main", index: 0 }]] });
  const connections = Object.fromEntries(nodes.slice(0, -1).map(({ name }, index) => [name, next(index)]));
  const workflow = { name: "Withdraw", nodes, connections, settings: { executionOrder: "v1" } };
  const saved = await importWorkflow(n8n, workflow, { settings: {}, token: await server.token() });
  return { server, submissionId, texts, execute: () => n8n.execute(saved) };
}

const readState = async (server: TestServer, submissionId: string) =>
  (await (await server.as("REST")).get_submission({ submissionId })).state;

test("the tutorial's two MCP Client nodes confirm a call where nobody has an account", async () => {
  const { server, submissionId, texts, execute } = await openWithdrawal();
  const { items, message } = await execute();
  expect(message).toBeUndefined();
  expect(items.get("Ask")?.[0]?.json.structuredContent.confirmation.question).toMatch(/^Withdraw submission/);
  expect(items.get("Confirm")?.[0]?.json.structuredContent.data.state).toBe("WITHDRAWN");
  expect(texts).toEqual(["no link"]);
  expect(await readState(server, submissionId)).toBe("WITHDRAWN");
});

test("the second MCP Client node waits until a person approves at the link of the first", async () => {
  const { server, submissionId, texts, execute } = await openWithdrawal();
  const person = await openAs(server, { role: "staff" });
  const execution = execute();
  const link = await waitFor(() => {
    const [text = ""] = texts;
    return new URL(text);
  });
  expect(await readState(server, submissionId)).toBe("IN_REVIEW");
  expect((await person.submit(link.pathname, { decision: "approve" })).status).toBe(303);
  const { items, message } = await execution;
  expect(message).toBeUndefined();
  expect(items.get("Confirm")?.[0]?.json.structuredContent.data.state).toBe("WITHDRAWN");
});
