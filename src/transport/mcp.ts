import { createMcpHandler, type McpHttpHandler, type McpServerFactory } from "@modelcontextprotocol/server";
import { Problem } from "../contract/errors.ts";
import type { Scope } from "../contract/scopes.ts";
import { sha256Hex } from "../lib/crypto.ts";
import type { Log } from "../lib/log.ts";
import { bearerOf, challengeOf } from "./bearer.ts";

export interface McpDeps {
  readonly factory: McpServerFactory;
  /** @throws Problem `unauthorized`, `invalid_token` */
  readonly identify: (token: string | undefined) => Promise<{ readonly scopes: ReadonlySet<Scope> }>;
  readonly log: Log;
  readonly maxBodyBytes: number;
}

export interface McpEndpoint {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/**
 * MCP over streamable HTTP, both protocol revisions: every request brings its caller's own bearer token, and nothing
 * of one request is kept for the next.
 */
export function createMcpEndpoint({ factory, identify, log, maxBodyBytes }: McpDeps): McpEndpoint {
  const handler: McpHttpHandler = createMcpHandler(factory, {
    maxRequestBodySize: maxBodyBytes,
    onerror: (error) => log.debug({ err: error }, "An MCP request was refused"),
  });
  return {
    async fetch(request) {
      const token = bearerOf(request.headers.get("authorization") ?? undefined);
      try {
        const scopes = [...(await identify(token)).scopes];
        // The client id only tells callers apart; it must not give the token away.
        const clientId = sha256Hex(token ?? "").slice(0, 16);
        return await handler.fetch(request, { authInfo: { token: token ?? "", clientId, scopes } });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return refuse(error);
      }
    },
    close: () => handler.close(),
  };
}

function refuse(refusal: Problem): Response {
  const error = { code: -32_001, message: refusal.message, data: { code: refusal.code, next: refusal.next } };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: refusal.status, headers: challengeOf(refusal) });
}
