import { request as httpRequest, type RequestOptions } from "node:http";
import type { OperationName } from "../../../src/contract/index.ts";
import { requestRest } from "../servers/test-server.ts";

/** An HTTP answer with its body read. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; `undefined` where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
  readonly body: any;
}

async function read(response: Response): Promise<RawAnswer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: jsonOf(text) };
}

/** Calls an operation over REST with one flat object. */
export async function rest(
  server: { readonly origin: string },
  token: string | undefined,
  name: OperationName,
  input: Readonly<Record<string, unknown>>,
  headers: Record<string, string> = {},
): Promise<RawAnswer> {
  return read(await requestRest(server.origin, token, name, input, headers));
}

/** Calls a tool with one request of 2026-07-28. `params` has the tool's `name`. */
export function sendToolCall(
  { origin }: { readonly origin: string },
  token: string,
  params: { readonly name: string } & Readonly<Record<string, unknown>>,
  { capabilities = {}, meta = {}, headers = {} }: ToolCallOptions = {},
): Promise<RawAnswer> {
  const all = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": params.name,
    ...headers,
  };
  const envelope = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  const request = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { ...params, _meta: { ...envelope, ...meta } },
  };
  return send(`${origin}/mcp`, { method: "POST", headers: all }, JSON.stringify(request));
}

export interface ToolCallOptions {
  /** The client's. */
  readonly capabilities?: object;
  /** More of the request's `_meta`. */
  readonly meta?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request as it is: unlike `fetch` it lets every header and path be. */
export function send(url: string, options: RequestOptions, body?: string | Buffer): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const request = httpRequest(url, options, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk) => chunks.push(chunk));
    response.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const headers = new Headers(response.headers as Record<string, string>);
      resolve({ status: response.statusCode ?? 0, headers, text, body: jsonOf(text) });
    });
  });
  request.on("error", reject);
  // Node announces no length for a DELETE, whose body would then be read as the next request.
  if (body !== undefined && !request.hasHeader("transfer-encoding"))
    request.setHeader("content-length", request.getHeader("content-length") ?? Buffer.byteLength(body));
  request.end(body);
  return promise;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
