import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { isScope, type Scope } from "../../src/contract/access/scopes.ts";
import { openHome } from "../support/processes/program.ts";
import { openDemoServer } from "../support/servers/demo-server.ts";
import { readWorkflow, runWorkflow } from "./n8n-workflow.ts";
import { pageAt } from "./pages.ts";
import { expectPrinted } from "./printed.ts";
import { fillIn, openTutorial } from "./tutorial.ts";

test("Claude Desktop's entry starts the server, and its calls answer as the tutorial shows", async () => {
  const tutorial = openTutorial("docs/tutorials/claude-desktop.md");
  const home = await openHome();
  const { command, args } = JSON.parse(tutorial.find("starts").text).mcpServers.programme;
  expect([command, ...args]).toEqual(["npx", "-y", "programme-mcp"]);
  const transport = new StdioClientTransport({ ...home.command([]), cwd: home.path, stderr: "ignore" });
  const client = new Client({ name: "claude-desktop", version: "1" });
  await client.connect(transport);
  onTestFinished(() => client.close());
  await tutorial.follow((name, input) => client.callTool({ name, arguments: input }) as never);
  expect(tutorial.known).toMatchObject({ state: "WITHDRAWN" });
});

test("n8n's workflow posts the ranking with the token, the settings and the file of the tutorial", async () => {
  const tutorial = openTutorial("docs/tutorials/n8n.md");
  const { text, links } = pageAt("docs/tutorials/n8n.md");
  const server = await openDemoServer();
  const scopes = (/token create --scopes (\S+)/.exec(text)?.[1] ?? "").split(",").filter(isScope) as Scope[];
  expect(scopes.length).toBeGreaterThan(1);
  const caller = await server.as("REST", scopes);
  const programs = await caller.list_programs();
  const { programId } = programs.find((row: { lifecycleStatus: string }) => row.lifecycleStatus === "underway");
  const [{ roundId }] = await caller.list_rounds({ programId });
  const posts: string[] = [];
  const chat = createServer(async (request, response) => {
    for await (const chunk of request) posts.push(JSON.parse(String(chunk)).text);
    response.end("ok");
  }).listen(0, "127.0.0.1");
  await once(chat, "listening");
  onTestFinished(() => void chat.close());
  const chatUrl = `http://127.0.0.1:${(chat.address() as AddressInfo).port}`;
  const shown = JSON.parse(tutorial.find("settings").text.replace("<address of your chat>", "<chatUrl>"));
  const settings = fillIn({ ...shown, baseUrl: server.origin }, { programId, roundId, chatUrl });
  const file =
    links
      .find((link) => link.includes("examples/n8n/"))
      ?.split("/")
      .at(-1) ?? "";
  const workflow = readWorkflow(file);
  for (const { name } of workflow.nodes.slice(1, 3)) expect(text).toContain(`*${name}*`);
  await runWorkflow(workflow, { settings, token: caller.token });
  expect(posts).toHaveLength(1);
  expectPrinted(tutorial.find("posts").text, posts[0] ?? "", "docs/tutorials/n8n.md");
});
