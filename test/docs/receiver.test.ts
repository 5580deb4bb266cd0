import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../support/processes/free-port.ts";
import { openWebhookServer } from "../webhooks/webhook-server.ts";
import { root } from "./pages.ts";

/** The example as a reader of the page on webhooks starts it, beside the real sender. */
async function openReceiver() {
  const webhookServer = await openWebhookServer();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const { endpointId, secret } = await webhookServer.add(url);
  const environment = { PATH: process.env["PATH"] ?? "", SIGNING_SECRET: secret, PORT: String(port) };
  const child = spawn(process.execPath, [join(root, "examples/webhook-receiver.mjs")], { env: environment });
  onTestFinished(() => void child.kill());
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  while (!output.includes(url.slice(0, -1))) await once(child.stdout, "data");
  const taken = () =>
    output
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => JSON.parse(line).eventId as string);
  return { webhookServer, url, secret, endpointId, taken };
}

const signed = (body: string, secret: string) => ({
  "x-webhook-signature": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
});

test("the example receiver accepts each event of the service once", async () => {
  const { webhookServer, endpointId, taken } = await openReceiver();
  const events = await webhookServer.emit(3);
  await webhookServer.drain();
  expect((await webhookServer.deliveries()).map(({ status, lastStatusCode }) => [status, lastStatusCode])).toEqual(
    Array(3).fill(["delivered", 204]),
  );
  expect(taken().toSorted()).toEqual(events.map(({ eventId }) => eventId).toSorted());
  const endpoint = await webhookServer.webhooks.endpoints.find(endpointId);
  expect(await webhookServer.webhooks.replay.since(endpoint, new Date(0).toISOString(), true)).toBe(3);
  await webhookServer.drain();
  const again = await webhookServer.deliveries();
  expect(again.map(({ status, lastStatusCode }) => [status, lastStatusCode])).toEqual(
    Array(6).fill(["delivered", 204]),
  );
  expect(taken()).toHaveLength(3);
});

test("the example receiver refuses everything else", async () => {
  const { url, secret, taken } = await openReceiver();
  const body = JSON.stringify({ eventType: "submission.submitted", eventId: "evt_1", data: {} });
  const post = async (sent: string, headers: Record<string, string>) =>
    (await fetch(url, { method: "POST", body: sent, headers })).status;
  expect(await post(body, {})).toBe(401);
  expect(await post(body, signed(body, `${secret}x`))).toBe(401);
  expect(await post(body.replace("evt_1", "evt_2"), signed(body, secret))).toBe(401);
  // The same event, in other bytes.
  expect(await post(JSON.stringify(JSON.parse(body), null, 1), signed(body, secret))).toBe(401);
  expect(await post(body, { "x-webhook-signature": signed(body, secret)["x-webhook-signature"].slice(0, -1) })).toBe(
    401,
  );
  expect(await post(" ".repeat(256 * 1024 + 1), signed(body, secret))).toBe(413);
  expect((await fetch(url)).status).toBe(405);
  expect(await post("no JSON", signed("no JSON", secret))).toBe(500);
  expect(taken()).toEqual([]);
  expect(await post(body, signed(body, secret))).toBe(204);
  expect(taken()).toEqual(["evt_1"]);
});
