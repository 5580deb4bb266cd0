import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { TestServer } from "../servers/test-server.ts";

/** The answer to one posted message, as far as it has arrived. */
export interface Exchange {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  text: string;
}

/** A client of MCP over HTTP whose messages and their answers are kept as they arrive. */
export interface RecordedClient {
  readonly client: Client;
  readonly exchanges: Exchange[];
}

/** The versions of MCP by their transport's name, as the official client negotiates them. */
export const revisions = { "2026-07-28": { pin: "2026-07-28" }, "2025-11-25": "legacy" } as const;
export type Revision = keyof typeof revisions;

/** Connects a client. Its user closes it. */
export async function connectRecorded(server: TestServer, token: string, revision: Revision): Promise<RecordedClient> {
  const exchanges: Exchange[] = [];
  const record: typeof fetch = async (address, init) => {
    const response = await fetch(address, init);
    // The stream of a 2025-era session opens at a time of its own.
    if (init?.method !== "POST") return response;
    const exchange: Exchange = { status: response.status, headers: toObject(response.headers), text: "" };
    exchanges.push(exchange);
    const decoder = new TextDecoder();
    const copy = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        exchange.text += decoder.decode(chunk, { stream: true });
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body?.pipeThrough(copy) ?? null, response);
  };
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: revisions[revision] } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`), { requestInit, fetch: record }),
  );
  return { client, exchanges };
}

function toObject(headers: Headers): Record<string, string> {
  const { date: _, "mcp-session-id": __, ...rest } = Object.fromEntries(headers);
  return rest;
}
