import type { McpServerFactory } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Log } from "../lib/log.ts";

export interface StdioConnection {
  close(): Promise<void>;
}

/** Serves one MCP connection over stdin and stdout; every log line goes to stderr. */
export function connectStdio(factory: McpServerFactory, log: Log): StdioConnection {
  return serveStdio(factory, { onerror: (error) => log.debug({ err: error }, "A message was refused") });
}
