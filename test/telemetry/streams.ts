/** A stream of 2026-07-28 on which a client listens for changes. */
export interface OpenStream {
  /** The beginning of what was answered: an acknowledgement, or why there is no stream. */
  readonly first: string;
  /** Resolves when either side has ended the stream. */
  readonly ended: Promise<void>;
}

const accept = "application/json, text/event-stream";

/** Listens for changes of these resources until the signal says so. */
export async function listenFor(
  { origin }: { readonly origin: string },
  token: string,
  uris: readonly string[],
  signal: AbortSignal,
): Promise<OpenStream> {
  const response = await fetch(`${origin}/mcp`, {
    method: "POST",
    signal,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "subscriptions/listen",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "subscriptions/listen",
      params: {
        notifications: { resourceSubscriptions: uris },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  const { value: first = "" } = await reader.read();
  const rest = async () => {
    while (!(await reader.read()).done);
  };
  return { first, ended: rest().catch(() => undefined) };
}

/** Opens a session of a 2025-era client: its id. */
async function openSession({ origin }: { readonly origin: string }, token: string): Promise<string> {
  const response = await fetch(`${origin}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } },
    }),
  });
  await response.text();
  return response.headers.get("mcp-session-id") ?? "";
}

/** The status of the stream on which a new session's client listens; it stays open until the signal says so. */
export async function listenInSession(
  service: { readonly origin: string },
  token: string,
  signal: AbortSignal,
): Promise<number> {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: "text/event-stream",
    "mcp-session-id": await openSession(service, token),
    "mcp-protocol-version": "2025-06-18",
  };
  const response = await fetch(`${service.origin}/mcp`, { headers, signal });
  // Read on: a body that nobody holds any more is cancelled when memory is collected.
  void response.text().catch(() => undefined);
  return response.status;
}
