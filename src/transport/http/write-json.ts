import type { ServerResponse } from "node:http";
import { getAnnouncedBytes } from "./body.ts";

/** Answers with JSON text. Closes the connection if too much of the request's body is unread. */
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
  response.end(body);
}

/** A longer body is not read to the end only to be discarded. */
const maxUnreadBytes = 64 * 1024;

/**
 * Returns whether a request's body is read or short enough to read and discard, as Node does by itself. The client, which
 * may read no answer before it has sent everything, then keeps its connection.
 */
function isSoonComplete({ req }: ServerResponse): boolean {
  return req.complete || getAnnouncedBytes(req) <= maxUnreadBytes;
}
