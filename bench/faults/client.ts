/** Clients of the public doors with minimal cost. */

/** The answer to one attempt at a call. */
export interface Answer {
  readonly ok: boolean;
  /** The answer that the caller saw, such as `503 unavailable, retry after 1 s`. */
  readonly seen: string;
  // biome-ignore lint/suspicious/noExplicitAny: the cases read answers without their types
  readonly data?: any;
  /** The cursor of the next page. */
  readonly cursor?: string;
}

export interface Door {
  readonly origin: string;
  readonly token: string;
}

/** An attempt without an answer by then counts as unanswered. */
const patienceMs = 30_000;

/** Sends a request to the REST interface. Never rejects. */
export async function callRest(
  { origin, token }: Door,
  method: string,
  path: string,
  body?: unknown,
  key?: string,
): Promise<Answer> {
  return answerWith(async () => {
    const response = await fetch(`${origin}/integrations/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(patienceMs),
    });
    const { data, error, meta } = JSON.parse(await response.text());
    const cursor = meta?.hasMore ? { cursor: meta.lastEvaluatedKey } : {};
    return { ok: response.ok, seen: describe(response, error?.code), data, ...cursor };
  });
}

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "faults", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Returns a request of revision 2026-07-28 to the MCP endpoint. */
export function createMcpRequest(token: string, method: string, params: object, name?: string): RequestInit {
  const meta = { ...(params as { _meta?: object })._meta, ...envelope };
  return {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(name === undefined ? {} : { "mcp-name": name }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } }),
  };
}

/** Calls a tool over HTTP. Never rejects. */
export async function callTool({ origin, token }: Door, name: string, args: object, key?: string): Promise<Answer> {
  return answerWith(async () => {
    const meta = key === undefined ? {} : { "programme-mcp/idempotencyKey": key };
    const request = createMcpRequest(token, "tools/call", { name, arguments: args, _meta: meta }, name);
    const response = await fetch(`${origin}/mcp`, { ...request, signal: AbortSignal.timeout(patienceMs) });
    const text = await response.text();
    const json = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}");
    return toToolAnswer(JSON.parse(json), response);
  });
}

/** Reads the answer to a tool call, from a response over HTTP or from stdio. */
export function toToolAnswer(
  // biome-ignore lint/suspicious/noExplicitAny: a message of JSON-RPC
  { result, error }: any,
  response: Pick<Response, "status" | "headers"> = { status: 200, headers: new Headers() },
): Answer {
  if (!result) return { ok: false, seen: describe(response, error?.data?.code ?? error?.code) };
  if (!result.isError) return { ok: true, seen: describe(response), data: result.structuredContent };
  const { code, details } = JSON.parse(result.content[0].text).error;
  const seconds = details?.retryAfterSeconds;
  return { ok: false, seen: `tool error ${code}${seconds === undefined ? "" : `, retry after ${seconds} s`}` };
}

function describe({ status, headers }: Pick<Response, "status" | "headers">, code = ""): string {
  const seconds = headers.get("retry-after");
  return `${status} ${code}${seconds === null ? "" : `, retry after ${seconds} s`}`.trim();
}

async function answerWith(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    const cause = (error as { cause?: { code?: string } }).cause?.code ?? (error as Error).name;
    const isRefused = cause === "ECONNREFUSED";
    return {
      ok: false,
      seen: isRefused ? "connection refused" : cause === "TimeoutError" ? "no answer" : "connection closed",
    };
  }
}
