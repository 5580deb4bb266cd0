import type { IncomingMessage } from "node:http";
import { unboundedIssues } from "../../contract/definition/storable.ts";
import { problem, validationProblem } from "../../contract/errors.ts";
import { limits } from "../../contract/limits.ts";
import { findJsonExcess } from "../../lib/bounded-json.ts";
import { createTurns } from "./body-queue.ts";

/** A request's body, or nothing where it is too large; of that no more is read than to know. */
export function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve(undefined);
  // Its client left before the reading began: no event follows.
  if (request.destroyed) return Promise.reject(new Error("The request ended before its body"));
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

/** Nothing is let through for its depth that is not looked into again: there it is known where it is too deep. */
const bounds = { maxDepth: 2 * limits.maxJsonDepth, maxValues: limits.maxJsonValues };

/**
 * Parses a body, unless its text alone shows that it holds too much.
 * @throws Problem `invalid_json`, `validation_failed`
 */
export function parseBody(bytes: Buffer): unknown {
  const excess = findJsonExcess(bytes, bounds);
  if (excess) throw validationProblem(unboundedIssues[excess]);
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    throw problem("invalid_json");
  }
}

/** Bodies up to this many bytes are read as they come. */
export const smallBodyBytes = 16 * 1024;
/** Requests of one caller that may wait to have their larger body read. */
export const maxWaitingBodies = 16;

/** Returns how long after a larger body the same caller's next one is read: sooner than its rate allows in the long run. */
export function computeBodyPauseMs(requestsPerMinute: number): number {
  return Math.min(100, 60_000 / requestsPerMinute / 2);
}

export interface BodyReaderOptions {
  readonly maxBodyBytes: number;
  readonly requestsPerMinute: number;
}

/**
 * Reads bodies: of each caller no more than one large one at a time, for what it costs to read them is taken from all
 * others. Meanwhile the network holds back the rest.
 * @throws Problem `payload_too_large`, `rate_limited`
 */
export type ReadBody = (caller: string, request: IncomingMessage) => Promise<Buffer>;

export function createBodyReader({ maxBodyBytes: maxBytes, requestsPerMinute }: BodyReaderOptions): ReadBody {
  const turns = createTurns({ maxWaiting: maxWaitingBodies, pauseMs: computeBodyPauseMs(requestsPerMinute) });

  async function read(request: IncomingMessage): Promise<Buffer> {
    const bytes = await readBytes(request, maxBytes);
    if (!bytes) throw problem("payload_too_large", { maxBytes });
    return bytes;
  }

  return (caller, request) => {
    return isSmall(request) ? read(request) : turns.take(caller, () => read(request));
  };
}

/** Returns whether a request announces a small body: one without a length and an encoding has none (RFC 9112, 6.3). */
function isSmall({ headers }: IncomingMessage): boolean {
  const announced = headers["content-length"] ?? ("transfer-encoding" in headers ? Number.POSITIVE_INFINITY : 0);
  return Number(announced) <= smallBodyBytes;
}
