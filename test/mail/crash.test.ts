import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { ownDatabase } from "../support/database/database.ts";
import { type OtherProcess, startProcess } from "../support/processes/processes.ts";
import { waitFor } from "../support/wait.ts";
import { type MailServer, openMailServer, openMailSetup, smtp } from "./mail-server.ts";

/** Opens a database from which other processes may send. This process only reads until `takeOver`. */
async function openShared(mailServer: MailServer) {
  const database = await ownDatabase();
  const mailroom = await openMailSetup({ ...smtp(mailServer), PROGRAMME_DATABASE: database }, {}, false);
  const { clock } = mailroom;
  clock.advance(Date.now() - clock.now().getTime());
  return {
    ...mailroom,
    start: () => startProcess(database, smtp(mailServer)),
    /** Lets this process take over when the leases of the killed processes have expired. */
    takeOver() {
      clock.advance(Date.now() + 3_600_000 - clock.now().getTime());
      mailroom.server.app.startWorkers();
    },
  };
}

const never = () => new Promise<undefined>(() => undefined);
const unknown = /^It is not known whether the mail server took the message/;

test("killed before the message, it is sent by whoever comes next: once", async () => {
  const mailServer = await openMailServer({ rcpt: never });
  const { start, queue, waitForSend, takeOver } = await openShared(mailServer);
  const { emailSendId } = await queue();
  const child = await start();
  await waitFor(() => expect(mailServer.connections()).toBe(1));
  await delay(100);
  await child.kill();
  mailServer.behaviour = {};
  takeOver();
  await waitForSend(emailSendId, { status: "sent", error: null });
  expect(mailServer.received).toHaveLength(1);
});

test.each([
  ["not taken", never],
  ["taken", async () => undefined],
])("killed with the message handed over and %s, it is shown as unknown and not sent again", async (_, verdict) => {
  let child: OtherProcess | undefined;
  const mailServer = await openMailServer({
    data: async () => {
      await child?.kill();
      return verdict();
    },
  });
  const { start, queue, waitForSend, takeOver, server } = await openShared(mailServer);
  const { emailSendId } = await queue();
  const later = queue;
  child = await start();
  await waitFor(() => expect(mailServer.received).toHaveLength(1));
  await delay(100);
  mailServer.behaviour = {};
  takeOver();
  const { error } = await waitForSend(emailSendId, { status: "failed" });
  expect(error).toMatch(unknown);
  await waitForSend((await later()).emailSendId, { status: "sent" });
  expect(mailServer.received).toHaveLength(2);
  // An operator who knows the result can have it sent again.
  await server.app.portalServices?.mailAdmin.retry(server.businessId, emailSendId);
  await waitForSend(emailSendId, { status: "sent", error: null });
  expect(mailServer.received).toHaveLength(3);
});
