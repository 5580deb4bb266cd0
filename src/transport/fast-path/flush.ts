import type { ServerResponse } from "node:http";

/** A response whose head is written. */
interface PendingResponse {
  readonly response: ServerResponse;
  readonly text: string;
}

let pending: PendingResponse[] = [];

/**
 * Ends a response with its text at the end of this turn of the event loop, together with the others that are ready by
 * then, so that a client that reads several wakes up once. Without it, a short call over HTTP at full load took half as much
 * processor time again (docs/decisions/0009-fast-path.md).
 */
export function endInBatch(response: ServerResponse, text: string): void {
  if (pending.length === 0) setImmediate(endAll);
  pending.push({ response, text });
}

function endAll(): void {
  const responses = pending;
  pending = [];
  for (const { response, text } of responses) response.end(text);
}
