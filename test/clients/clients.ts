export type Transport = "stdio" | "HTTP";

/** The tasks of each client; a confirmed write is one that the server asks about first. */
export const abilities = ["list", "read", "write", "resource", "prompt", "subscription"] as const;

/** Of each ability `yes`, how, or `no:` and why not. */
export type Results = Readonly<Record<(typeof abilities)[number], string>>;

/**
 * Real clients, each in a folder of its name with a driver and its locked packages; what they do is in `results.json`.
 * n8n's node comes without most of the 90 packages that its package depends on, which other nodes need.
 */
export const clients = {
  "mcp-remote": { label: "mcp-remote, as Claude Desktop starts it", package: "mcp-remote", over: ["HTTP"] },
  "claude-code": { label: "Claude Code", package: "@anthropic-ai/claude-code", over: ["stdio", "HTTP"] },
  inspector: { label: "MCP Inspector CLI", package: "@modelcontextprotocol/inspector", over: ["stdio", "HTTP"] },
  mcporter: { label: "mcporter", package: "mcporter", over: ["stdio", "HTTP"] },
  "ai-sdk": { label: "AI SDK", package: "@ai-sdk/mcp", over: ["stdio", "HTTP"] },
  "openai-agents": { label: "OpenAI Agents SDK", package: "@openai/agents", over: ["stdio", "HTTP"] },
  langchain: { label: "LangChain's MCP adapters", package: "@langchain/mcp-adapters", over: ["stdio", "HTTP"] },
  n8n: { label: "n8n's MCP Client node", package: "@n8n/n8n-nodes-langchain", over: ["HTTP"] },
} as const satisfies Record<string, { label: string; package: string; over: readonly Transport[] }>;

export type ClientName = keyof typeof clients;
export const clientNames = Object.keys(clients) as readonly ClientName[];
