/**
 * The servers with which the program is compared, each in its own process: the upstream, and the SDK over stdio and
 * HTTP. `node floors.ts upstream|sdk-stdio|sdk-http [upstream origin]`; those that listen print their address.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, type Server as McpServer, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Pool } from "undici";
import { formBody, path, token, toolName, upstreamBody } from "./case.ts";

const [role, origin = ""] = process.argv.slice(2);
const headers = { authorization: `Bearer ${token}`, accept: "application/json" };

switch (role) {
  case "upstream":
    listen(({ url = "" }, response) => {
      const body = url.includes("/schemas/") ? formBody : upstreamBody;
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
      response.end(body);
    });
    break;
  case "sdk-stdio":
    sdkStdio(poolOf(origin));
    break;
  case "sdk-http":
    sdkHttp(poolOf(origin));
    break;
}

function poolOf(upstream: string): Pool {
  return new Pool(upstream, { connections: 32 });
}

async function textOf(pool: Pool): Promise<string> {
  const { body } = await pool.request({ method: "GET", path, headers });
  return body.text();
}

/** Creates the SDK's low-level server: a static list, the upstream's response as text, no checks. */
function sdkServer(pool: Pool): McpServer {
  const server = new Server({ name: "floor", version: "1.0.0" }, { capabilities: { tools: {} } });
  const tools = [{ name: toolName, inputSchema: { type: "object" as const } }];
  server.setRequestHandler("tools/list", async () => ({ tools }));
  server.setRequestHandler("tools/call", async () => ({
    content: [{ type: "text" as const, text: await textOf(pool) }],
  }));
  return server;
}

function sdkStdio(pool: Pool): void {
  serveStdio(() => sdkServer(pool));
}

function sdkHttp(pool: Pool): void {
  const handler = toNodeHandler(createMcpHandler(() => sdkServer(pool)));
  listen((request, response) => void handler(request as Parameters<typeof handler>[0], response));
}

function listen(listener: Parameters<typeof createServer>[1]): void {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
}
