import { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** The smallest server that the SDK allows, as the baseline. */
const server = new Server({ name: "bare", version: "1.0.0" }, { capabilities: { tools: {} } });
const tools = ["read", "list", "change"].map((name) => ({
  name,
  description: `Tool to ${name} something`,
  inputSchema: { type: "object" as const, properties: { id: { type: "string" } }, required: ["id"] },
}));
server.setRequestHandler("tools/list", () => ({ tools }));
await server.connect(new StdioServerTransport());
