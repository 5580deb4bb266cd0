import { expect } from "vitest";
import type { MailLease } from "../../src/store/port.ts";
import { type TestServer, test } from "../support/servers/test-server.ts";

const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 9, minute)).toISOString();

function settle({ app, businessId }: TestServer, lease: MailLease, dueAt?: string): Promise<boolean> {
  return app.store.transaction({ businessId, actorId: "test", now: at(0) }, (tx) => tx.settleMail(lease, dueAt));
}

async function leased(server: TestServer, now: string, until: string): Promise<MailLease> {
  const lease = await server.app.store.mailQueue.lease(now, until);
  if (!lease) throw new Error("Nothing to lease");
  return lease;
}

test("a queued message is leased by one worker, and leaves the queue when it is settled", async ({ server }) => {
  const { mailQueue } = server.app.store;
  await server.seed.emailSend({ status: "sent" });
  expect(await mailQueue.lease(at(1), at(2))).toBeUndefined();
  const { emailSendId } = await server.seed.emailSend({ status: "queued" });
  const lease = await leased(server, at(1), at(5));
  expect(lease).toMatchObject({ businessId: server.businessId, emailSendId, attempt: 0, handedOverAt: undefined });
  expect(await mailQueue.lease(at(4), at(9))).toBeUndefined();
  expect(await settle(server, lease)).toBe(true);
  expect(await mailQueue.lease(at(30), at(40))).toBeUndefined();
  expect(await settle(server, lease)).toBe(false);
});

test("a worker that lost its lease cannot change the message", async ({ server }) => {
  const { mailQueue } = server.app.store;
  await server.seed.emailSend({ status: "queued" });
  const lost = await leased(server, at(1), at(5));
  const held = await leased(server, at(5), at(10));
  expect(held.leaseId).not.toBe(lost.leaseId);
  expect(await mailQueue.markHandedOver(lost, at(6), at(20))).toBe(false);
  await mailQueue.giveBack(lost, at(6));
  expect(await settle(server, lost)).toBe(false);
  expect(await settle(server, lost, at(6))).toBe(false);
  expect(await mailQueue.lease(at(9), at(20))).toBeUndefined();
  expect(await mailQueue.markHandedOver(held, at(9), at(20))).toBe(true);
  expect(await mailQueue.lease(at(19), at(30))).toBeUndefined();
  // Its process ended: the next holder learns that it was handed over.
  expect(await leased(server, at(20), at(30))).toMatchObject({ attempt: 0, handedOverAt: at(9) });
});

test("a deferred message counts an attempt, a returned one does not", async ({ server }) => {
  const { mailQueue } = server.app.store;
  await server.seed.emailSend({ status: "queued" });
  const first = await leased(server, at(1), at(5));
  expect(await mailQueue.markHandedOver(first, at(1), at(6))).toBe(true);
  expect(await settle(server, first, at(10))).toBe(true);
  expect(await mailQueue.lease(at(9), at(20))).toBeUndefined();
  const second = await leased(server, at(10), at(15));
  expect(second).toMatchObject({ attempt: 1, handedOverAt: undefined });
  await mailQueue.giveBack(second, at(10));
  expect(await leased(server, at(10), at(15))).toMatchObject({ attempt: 1 });
});

test("a message is queued only when its transaction commits", async ({ server }) => {
  const { app, businessId } = server;
  const { emailSendId } = await server.seed.emailSend({ status: "failed" });
  const requeue = (undo: boolean) =>
    app.store.transaction({ businessId, actorId: "test", now: at(0) }, async (tx) => {
      const row = await tx.get("emailSends", emailSendId);
      if (row) await tx.update("emailSends", row, { status: "queued" });
      if (undo) throw new Error("undone");
    });
  await expect(requeue(true)).rejects.toThrow("undone");
  expect(await app.store.mailQueue.lease(at(1), at(5))).toBeUndefined();
  await requeue(false);
  expect(await leased(server, at(1), at(5))).toMatchObject({ emailSendId, attempt: 0 });
});

test("tenants take turns", async ({ server }) => {
  const other = await server.other();
  for (let count = 0; count < 3; count++) await server.seed.emailSend({ status: "queued" });
  await other.seed.emailSend({ status: "queued" });
  const turns: string[] = [];
  for (let count = 0; count < 4; count++) turns.push((await leased(server, at(1), at(5))).businessId);
  expect(turns.slice(0, 2).toSorted()).toEqual([server.businessId, other.businessId].toSorted());
});
