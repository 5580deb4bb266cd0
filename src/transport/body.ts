import type { IncomingMessage } from "node:http";

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
