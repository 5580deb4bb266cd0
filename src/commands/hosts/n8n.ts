import type { HttpServerEntry, JsonObject } from "./host.ts";

/**
 * Returns nodes for n8n's canvas: its MCP Client, which calls a tool as a step of a workflow, and the same as a tool
 * of an AI agent. Their credential is chosen in n8n, which stores secrets apart from workflows.
 */
export function createWorkflow({ url }: HttpServerEntry, name: string): JsonObject {
  const server = { endpointUrl: url, serverTransport: "httpStreamable", authentication: "bearerAuth" };
  const step = { tool: { __rl: true, mode: "id", value: "list_programs" }, inputMode: "json", jsonInput: "{}" };
  const nodes = [
    {
      parameters: { ...server, ...step, options: {} },
      name,
      type: "@n8n/n8n-nodes-langchain.mcpClient",
      typeVersion: 1.1,
      position: [0, 0],
    },
    {
      parameters: { ...server, include: "all", options: {} },
      name: `${name}, for an agent`,
      type: "@n8n/n8n-nodes-langchain.mcpClientTool",
      typeVersion: 1.1,
      position: [0, 200],
    },
  ];
  return { nodes, connections: {} };
}
