import type { IncomingMessage } from "node:http";
import { invalid, problem } from "../contract/errors.ts";
import { limits } from "../contract/limits.ts";
import { unboundedIssues } from "../contract/storable.ts";
import { findJsonExcess } from "../lib/bounded-json.ts";

/** A request's body, or nothing where it is too large; of that no more is read than to know. */
export function bytesOf(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve(undefined);
  // By events: to iterate costs as much as the rest of a small request. A promise settles once by itself.
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size <= maxBytes) chunks.push(chunk);
      else resolve(void request.pause());
    });
    request.on("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.on("error", reject);
    request.on("close", () => {
      if (!request.readableEnded) reject(new Error("The request ended before its body"));
    });
  });
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Parses a body, unless its text alone shows that it holds too much.
 * @throws Problem `invalid_json`, `validation_failed`
 */
export function parseBody(bytes: Buffer, maxDepth: number): unknown {
  const excess = findJsonExcess(bytes, { maxDepth, maxValues: limits.maxJsonValues });
  if (excess) throw invalid(unboundedIssues[excess]);
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    throw problem("invalid_json");
  }
}
