import type { HttpServer, JsonObject } from "./host.ts";

/**
 * Nodes for n8n's canvas: an MCP client as a tool of an AI agent. Its credential is chosen in n8n, which keeps secrets
 * apart from workflows.
 */
export function workflowOf({ url }: HttpServer, name: string): JsonObject {
  const parameters = {
    endpointUrl: url,
    serverTransport: "httpStreamable",
    authentication: "bearerAuth",
    include: "all",
    options: {},
  };
  const type = "@n8n/n8n-nodes-langchain.mcpClientTool";
  return { nodes: [{ parameters, name, type, typeVersion: 1.1, position: [0, 0] }], connections: {} };
}
