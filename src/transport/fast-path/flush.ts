import type { ServerResponse } from "node:http";
import { chooseEncoding } from "../../lib/json-cache.ts";

/** An answer whose head is written. */
interface Ready {
  readonly response: ServerResponse;
  readonly text: string;
  readonly bytes: number;
}

let ready: Ready[] = [];

/**
 * Ends an answer with its text at the end of this turn of the event loop, together with the others that are ready by
 * then: to wake who reads an answer costs more than to write it, and whoever reads several is woken once.
 */
export function endInBatch(response: ServerResponse, text: string, bytes: number): void {
  if (ready.length === 0) setImmediate(endAll);
  ready.push({ response, text, bytes });
}

function endAll(): void {
  const all = ready;
  ready = [];
  for (const { response, text, bytes } of all) response.end(text, chooseEncoding(text, bytes));
}
