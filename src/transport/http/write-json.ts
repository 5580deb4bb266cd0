import type { ServerResponse } from "node:http";
import { chooseEncoding } from "../../lib/json-cache.ts";

/** Answers with JSON text, whether or not the request's body was read. */
export function writeJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>>,
): void {
  const bytes = Buffer.byteLength(body);
  const all: Record<string, string | number> = {
    "content-type": "application/json",
    "content-length": bytes,
    "cache-control": "no-store",
    ...headers,
  };
  if (!isSoonComplete(response)) all["connection"] = "close";
  response.writeHead(status, all);
  response.end(body, chooseEncoding(body, bytes));
}

/** More of a body is not read only to be thrown away: that costs more than to refuse it. */
const maxUnreadBytes = 64 * 1024;

/**
 * Whether what is left of a body is worth waiting for: Node reads it and throws it away, and the client, which may not
 * listen before it has sent it all, keeps its connection. Of a longer one the rest must not be taken for a request.
 */
function isSoonComplete({ req: { complete, headers } }: ServerResponse): boolean {
  return complete || Number(headers["content-length"] ?? Number.POSITIVE_INFINITY) <= maxUnreadBytes;
}
