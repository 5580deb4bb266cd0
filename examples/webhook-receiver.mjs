// Receives webhooks, without any package: verifies each delivery, takes each event once.
//
//   SIGNING_SECRET=whsec_… PORT=4000 node webhook-receiver.mjs
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

const secret = process.env.SIGNING_SECRET;
const port = Number(process.env.PORT ?? 4000);
const maxBytes = 256 * 1024;
const maxRemembered = 100_000;

if (!secret) {
  console.error("error: SIGNING_SECRET is not set; `webhook add` prints it.");
  process.exit(2);
}

/** Ids of events that were taken. Where a restart must forget none, keep them in a table with a unique key. */
const taken = new Set();

/** Processes an event. Put long work into a queue: a delivery has 15 seconds. */
function handle(event) {
  console.log(JSON.stringify(event));
}

const server = createServer(async (request, response) => {
  try {
    response.writeHead(await receive(request)).end();
  } catch (error) {
    // What was not taken comes again.
    console.error(error);
    response.writeHead(500).end();
  }
});

async function receive(request) {
  if (request.method !== "POST") return 405;
  const body = await bytesOf(request);
  if (body === undefined) return 413;
  if (!isGenuine(body, request.headers["x-webhook-signature"])) return 401;
  const event = JSON.parse(body.toString("utf8"));
  if (taken.has(event.eventId)) return 204;
  handle(event);
  taken.add(event.eventId);
  if (taken.size > maxRemembered) taken.delete(taken.values().next().value);
  return 204;
}

/** Returns the raw body. Parsed and serialized JSON would have other bytes than the signed ones. */
async function bytesOf(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Compares in constant time: how long it takes says nothing of how much was right. */
function isGenuine(body, header = "") {
  const right = Buffer.from(`sha256=${createHmac("sha256", secret).update(body).digest("hex")}`);
  const given = Buffer.from(header);
  return given.length === right.length && timingSafeEqual(given, right);
}

await once(server.listen(port, "127.0.0.1"), "listening");
console.log(`Listening on http://127.0.0.1:${server.address().port}`);
