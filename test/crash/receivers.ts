import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { EventPayload } from "../../src/contract/events.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { type Answer, answers, hangs, openReceiver } from "../webhooks/receiver.ts";

/** Receivers of webhooks, each an endpoint for all events. */
export interface Receivers {
  readonly good: readonly Good[];
  /** Ids of those that nothing can come to, by what is wrong with them. */
  readonly hopeless: Readonly<Record<string, string>>;
  /** Ids of those that take long. */
  readonly tedious: Readonly<Record<string, string>>;
  /** Counts the events that have not come to one of the good ones. */
  missing(events: number): number;
  /** Where requests came to that none was to come to. */
  strayed(): string[];
}

interface Good {
  readonly endpointId: string;
  bodies(): EventPayload[];
}

/** Says so much later, but in time. */
const late: Answer = (response) => void setTimeout(() => response.writeHead(204).end(), 10_000);

/** Promises more than it will ever say. */
const promises: Answer = (response) => void response.writeHead(200, { "content-length": "1000000" }).write("no");

export async function openReceivers(testServer: TestServer): Promise<Receivers> {
  const { webhooks, store } = testServer.app;
  const add = async (url: string) => (await webhooks?.endpoints.add(testServer.businessId, url, []))?.endpointId ?? "";
  const [first, second, target] = [await openReceiver(), await openReceiver(), await openReceiver()];
  const good: Good[] = [];
  for (const { url, received } of [first, second]) {
    const bodies = () => received.map(({ body }) => JSON.parse(body) as EventPayload);
    good.push({ endpointId: await add(url), bodies });
  }
  const tedious = {
    slow: await add((await openReceiver(late)).url),
    lying: await add((await openReceiver(promises)).url),
  };
  const unused = await openReceiver();
  const hopeless = {
    dead: await add((await openReceiver(hangs)).url),
    redirecting: await add((await openReceiver(answers(307, { location: target.url }))).url),
    babbling: await add(await openBabbler()),
    private: await add(unused.url),
  };
  const row = await store.reader(testServer.businessId).get("webhookEndpoints", hopeless.private);
  // An address may come to lead there after it was taken.
  if (row) await testServer.write((tx) => tx.update("webhookEndpoints", row, { url: "https://10.0.0.1/hook" }));
  return {
    good,
    hopeless,
    tedious,
    missing: (events) => Math.max(...[first, second].map(({ eventIds }) => events - new Set(eventIds()).size)),
    strayed: () => [target, unused].flatMap(({ received }) => received.map(({ path }) => path)),
  };
}

/** Speaks something else than HTTP. */
async function openBabbler(): Promise<string> {
  const server = createServer((socket: Socket) => {
    socket.on("error", () => undefined).once("data", () => socket.end("220 mail.example.org ESMTP\r\n"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}
