import type { IncomingMessage } from "node:http";
import { limits } from "../../contract/access/limits.ts";
import { unboundedIssues } from "../../contract/definition/storable.ts";
import { type Problem, problem, validationProblem } from "../../contract/errors.ts";
import { findJsonExcess } from "../../lib/bounded-json.ts";
import { createTaskQueue } from "./body-queue.ts";

/**
 * Reads a request's body. Returns undefined if it is larger than `maxBytes`, and then stops reading.
 * @throws Problem `invalid_json` if the client disconnects before the end
 */
export function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve(undefined);
  // Its client left before the reading began: no event follows.
  if (request.destroyed) return Promise.reject(createTruncationProblem());
  // Events, since async iteration costs as much as the rest of a small request.
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size <= maxBytes) chunks.push(chunk);
      else resolve(void request.pause());
    });
    request.on("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.on("error", () => reject(createTruncationProblem()));
    request.on("close", () => {
      if (!request.readableEnded) reject(createTruncationProblem());
    });
  });
}

function createTruncationProblem(): Problem {
  return problem("invalid_json", undefined, "The request ended before its body.");
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Twice the depth that validation allows, which reports where a value is too deep. */
const bounds = { maxDepth: 2 * limits.maxJsonDepth, maxValues: limits.maxJsonValues };

/**
 * Parses a JSON body. Refuses one that is too deep or has too many values before it parses it.
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

/** Bodies up to this many bytes are read at once, without the queue. */
export const smallBodyBytes = 16 * 1024;
/** Requests of one caller whose larger bodies may wait to be read. */
export const maxWaitingBodies = 16;

/** Returns the pause between two larger bodies of a caller: half the time between two requests at its full rate. */
export function computeBodyPauseMs(requestsPerMinute: number): number {
  return Math.min(100, 60_000 / requestsPerMinute / 2);
}

export interface BodyReaderOptions {
  readonly maxBodyBytes: number;
  readonly requestsPerMinute: number;
}

/**
 * Reads a request's body. Reads one large body of each caller at a time, because reading and parsing slow down all
 * other requests; TCP holds back the rest.
 * @throws Problem `payload_too_large`, `rate_limited`, `invalid_json`
 */
export type ReadBody = (caller: string, request: IncomingMessage) => Promise<Buffer>;

export function createBodyReader({ maxBodyBytes: maxBytes, requestsPerMinute }: BodyReaderOptions): ReadBody {
  const queue = createTaskQueue({ maxWaiting: maxWaitingBodies, pauseMs: computeBodyPauseMs(requestsPerMinute) });

  async function read(request: IncomingMessage): Promise<Buffer> {
    const bytes = await readBytes(request, maxBytes);
    if (!bytes) throw problem("payload_too_large", { maxBytes });
    return bytes;
  }

  return (caller, request) => {
    return isSmall(request) ? read(request) : queue.run(caller, () => read(request));
  };
}

function isSmall(request: IncomingMessage): boolean {
  return getAnnouncedBytes(request) <= smallBodyBytes;
}

/** Returns the length of a request's body by its headers: without a length and an encoding it is 0 (RFC 9112, 6.3). */
export function getAnnouncedBytes({ headers }: IncomingMessage): number {
  return Number(headers["content-length"] ?? ("transfer-encoding" in headers ? Number.POSITIVE_INFINITY : 0));
}
