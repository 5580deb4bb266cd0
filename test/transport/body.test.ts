import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { createBodyReader, maxWaitingBodies, smallBodyBytes } from "../../src/transport/http/body.ts";

const readBody = createBodyReader({ maxBodyBytes: 1_000_000, requestsPerMinute: 1_000_000 });
const large = "x".repeat(smallBodyBytes + 1);

/** A request whose headers have come, and nothing of its body. */
function receiveHeaders(headers: IncomingMessage["headers"]): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.headers = headers;
  return request;
}

const receiveLarge = () => receiveHeaders({ "content-length": String(large.length) });

function finish(request: IncomingMessage, body: string | null): void {
  if (body !== null) request.push(body);
  request.push(null);
}

test("a client that disconnects while its large body waits does not block the caller's next body", async () => {
  const [read, left, next] = [receiveLarge(), receiveLarge(), receiveLarge()];
  const bodies = [read, left, next].map((request) => readBody("caller", request));
  const settled = Promise.allSettled(bodies);
  left.destroy();
  finish(read, large);
  finish(next, large);
  expect((await settled).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  await expect(bodies[1]).rejects.toMatchObject({ code: "invalid_json" });
});

test("requests without a body do not wait for a large body of the same caller", async () => {
  const reading = receiveLarge();
  const body = readBody("caller", reading);
  const without = Array.from({ length: 2 * maxWaitingBodies }, () => receiveHeaders({}));
  const empty = without.map((request) => readBody("caller", request));
  for (const request of without) finish(request, null);
  expect((await Promise.all(empty)).every((bytes) => bytes.length === 0)).toBe(true);
  finish(reading, large);
  expect((await body).length).toBe(large.length);
});
