import { expect, test } from "vitest";
import { ownDatabase } from "../support/database/database.ts";
import { startProcess } from "../support/processes/processes.ts";
import { accepts, hangs, openReceiver } from "./receiver.ts";
import { openWebhookServer, second } from "./webhook-server.ts";

test("the deliveries of a killed process are taken over when its lease ends, and not before", async () => {
  const database = await ownDatabase();
  const environment = { PROGRAMME_WEBHOOK_LOOPBACK: "true" };
  const webhookServer = await openWebhookServer({ environment: { ...environment, PROGRAMME_DATABASE: database } });
  const turnTo = (ms: number) => webhookServer.clock.advance(ms - webhookServer.clock.now().getTime());
  const receiver = await openReceiver(hangs);
  await webhookServer.add(receiver.url);
  const [event] = await webhookServer.emit();
  const child = await startProcess(database, environment);
  await receiver.waitFor(1);
  await child.kill();
  receiver.answer(accepts);
  turnTo(Date.now());
  await webhookServer.drain();
  expect(receiver.received).toHaveLength(1);
  turnTo(Date.now() + 50 * second);
  await webhookServer.drain();
  expect(receiver.eventIds()).toEqual([event?.eventId, event?.eventId]);
  expect(await webhookServer.deliveries()).toMatchObject([{ status: "delivered", attempt: 1 }]);
});
