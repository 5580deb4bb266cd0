import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { listChanges } from "../support/data/state.ts";
import { ownDatabase } from "../support/database/database.ts";
import { openServersOnOneDatabase } from "../support/database/shared-database.ts";
import { waitFor } from "../support/wait.ts";
import { openMailServer, openMailSetup, readHeader, smtp } from "./mail-server.ts";

describe("header injection in messages", () => {
  test.each([
    "\r\n",
    "\n",
    "\r",
    "\u0085",
    "\u2028",
    "\u2029",
    "\0",
  ])("a subject with %j cannot add a header", async (end) => {
    const mailServer = await openMailServer();
    const { queue, waitForSend } = await openMailSetup(smtp(mailServer));
    const subject = `News${end}Bcc: all@example.com${end}${end}Another body`;
    const { emailSendId } = await queue({ subject, body: `Dear Ada${end}.${end}MAIL FROM:<eve@example.com>` });
    await waitForSend(emailSendId, { status: "sent" });
    const [letter] = mailServer.accepted;
    if (!letter) throw new Error("Nothing came");
    expect(mailServer.accepted).toHaveLength(1);
    expect(letter).toMatchObject({ from: "calls@example.org", to: ["ada@example.org"] });
    expect(readHeader(letter, "Bcc")).toEqual([]);
    expect(readHeader(letter, "Subject")).toEqual(["News Bcc: all@example.com Another body"]);
    expect(letter.raw.match(/\r\n\r\n/)?.index).toBeGreaterThan(letter.raw.indexOf("Subject:"));
  });

  test.each([
    "ada@example.org\r\nRCPT TO:<all@example.com>",
    "ada@example.org>\r\nDATA",
    "ada@example.org, all@example.com",
    "Ada <ada@example.org>",
    "<ada@example.org>",
    "ada@example.org ",
    "@example.org",
    "",
  ])("%j is not accepted as an address", async (recipientEmail) => {
    const mailServer = await openMailServer();
    const { queue, waitForSend } = await openMailSetup(smtp(mailServer));
    await waitForSend((await queue({ recipientEmail })).emailSendId, { status: "failed" });
    expect([mailServer.connections(), mailServer.accepted]).toEqual([0, []]);
  });

  test("a sender's name may contain quotes and any letters", async () => {
    const mailServer = await openMailServer();
    const environment = smtp(mailServer, { PROGRAMME_MAIL_FROM: "Förder, Rat: Übersee <calls@example.org>" });
    const { queue, waitForSend } = await openMailSetup(environment);
    await waitForSend((await queue()).emailSendId, { status: "sent" });
    const [from] = mailServer.accepted.flatMap((letter) => readHeader(letter, "From"));
    expect(from).toMatch(/^=\?UTF-8\?Q\?F=C3=B6rder.*\?= <calls@example\.org>$/);
  });

  test("the longest allowed text arrives unchanged", async () => {
    const mailServer = await openMailServer();
    const { queue, waitForSend } = await openMailSetup(smtp(mailServer));
    const body = ".".repeat(50_000);
    await waitForSend((await queue({ body, subject: "s".repeat(500) })).emailSendId, { status: "sent" });
    const { raw = "" } = mailServer.accepted[0] ?? {};
    const text = Buffer.from(raw.slice(raw.indexOf("\r\n\r\n")), "base64").toString();
    expect(text === body).toBe(true);
    for (const line of raw.split("\r\n")) expect(line.length).toBeLessThan(999);
  });
});

describe("suppressed addresses get no mail:", () => {
  test("queued and new messages are withheld until the address is allowed again", async () => {
    const mailServer = await openMailServer();
    const { server, queue, waitForSend, all } = await openMailSetup(smtp(mailServer));
    const { businessId } = server;
    const mailAdmin = server.app.portalServices?.mailAdmin;
    if (!mailAdmin) throw new Error("No mail office");
    expect(await mailAdmin.suppress(businessId, "Ada@Example.org", "unsubscribed")).toBe(true);
    expect(await mailAdmin.suppress(businessId, "ada@example.org", "manual")).toBe(false);
    const { emailSendId } = await queue({ recipientEmail: "ADA@example.org" });
    await waitForSend(emailSendId, { status: "suppressed", error: null, sentAt: null });

    const chair = await server.as("REST");
    const { programId } = await server.seed.program();
    const programIds = [programId];
    for (const email of ["ada@example.org", "bo@example.org"]) await server.seed.applicant({ programIds, email });
    const applicantEmails = ["ada@example.org", "bo@example.org"];
    const outcome = await chair.send_bulk_email({
      programId,
      applicants: { applicantEmails, subject: "a", body: "b" },
    });
    expect(outcome).toMatchObject({ queued: 1, suppressed: 1, skipped: [] });
    await chair.invite_reviewer({ email: "ada@example.org" });
    const other = await server.other();
    await other.seed.emailSend({ status: "queued", sentAt: null });
    await waitFor(() => expect(mailServer.accepted).toHaveLength(2));
    const listed = await chair.list_email_sends({ recipientEmail: "ada@example.org" });
    expect(listed.map(({ status }: { status: string }) => status)).toEqual(Array(3).fill("suppressed"));
    // Another organisation has a list of its own.
    expect(mailServer.accepted.map(({ to }) => to[0]).toSorted()).toEqual(["ada@example.org", "bo@example.org"]);

    expect(await mailAdmin.unsuppress(businessId, "ADA@example.org")).toBe(true);
    expect(await mailAdmin.unsuppress(businessId, "ada@example.org")).toBe(false);
    await mailAdmin.retry(businessId, emailSendId);
    await waitForSend(emailSendId, { status: "sent" });
    const bo = (await all()).find(({ recipientEmail }) => recipientEmail.startsWith("bo"));
    await waitForSend(bo?.emailSendId ?? "", { status: "sent" });
    const retry = mailAdmin.retry(businessId, emailSendId);
    await expect(retry).rejects.toMatchObject({ code: "invalid_state_transition" });
    await expect(mailAdmin.retry(businessId, "eml_none")).rejects.toMatchObject({ code: "not_found" });
    await expect(mailAdmin.suppress(businessId, "ada", "manual")).rejects.toMatchObject({ code: "validation_failed" });
    const audit = await listChanges(server.app.store, businessId);
    const ofList = audit.filter(({ entityType }) => entityType === "suppression").map(({ action }) => action);
    expect(ofList.toSorted()).toEqual(["suppression.added", "suppression.removed"]);
    expect(JSON.stringify(audit)).not.toMatch(/@example/i);
  });

  test("an invitation with suppressEmails sends no message", async () => {
    const mailServer = await openMailServer();
    const { server, queue, waitForSend, all } = await openMailSetup(smtp(mailServer));
    await (await server.as("REST")).invite_reviewer({ email: "ida@example.org", suppressEmails: true });
    await waitForSend((await queue()).emailSendId, { status: "sent" });
    expect(mailServer.accepted.map(({ to }) => to)).toEqual([["ada@example.org"]]);
    expect((await all()).map(({ status }) => status).toSorted()).toEqual(["sent", "suppressed"]);
  });
});

test("several processes on one database send each message once", async () => {
  const mailServer = await openMailServer({ data: async () => void (await delay(5)) });
  const { servers, close } = await openServersOnOneDatabase(3, smtp(mailServer));
  onTestFinished(close);
  const [first] = servers;
  if (!first) throw new Error("No portal");
  for (const { app } of servers) app.startWorkers();
  for (let count = 0; count < 60; count++) await first.seed.emailSend({ status: "queued", sentAt: null });
  const sent = async () => first.app.store.reader(first.businessId).count("emailSends", { where: { status: "sent" } });
  await waitFor(async () => expect(await sent()).toBe(60));
  expect(mailServer.received).toHaveLength(60);
  expect(new Set(mailServer.accepted.flatMap((letter) => readHeader(letter, "Message-ID"))).size).toBe(60);
});

test("one organisation's many messages do not delay another's", async () => {
  const mailServer = await openMailServer({ data: async () => void (await delay(20)) });
  const { server, queue } = await openMailSetup(smtp(mailServer, { PROGRAMME_MAIL_CONCURRENCY: "1" }), {}, false);
  for (let count = 0; count < 100; count++) await queue();
  const other = await server.other();
  await other.seed.emailSend({ status: "queued", sentAt: null, recipientEmail: "few@example.org" });
  server.app.startWorkers();
  const position = () => mailServer.accepted.findIndex(({ to }) => to[0] === "few@example.org");
  await waitFor(() => expect(position()).toBeGreaterThanOrEqual(0));
  expect(position()).toBeLessThan(5);
});

test("a message that was not handed over before a shutdown is sent after the next start", async () => {
  const requested = Promise.withResolvers<void>();
  const mailServer = await openMailServer({
    rcpt: () => {
      requested.resolve();
      return new Promise(() => undefined);
    },
  });
  const environment = smtp(mailServer, { PROGRAMME_DATABASE: await ownDatabase() });
  const first = await openMailSetup(environment);
  const { emailSendId } = await first.queue();
  await requested.promise;
  await first.close();
  mailServer.behaviour = {};
  const second = await openMailSetup(environment, { clock: first.clock });
  await second.waitForSend(emailSendId, { status: "sent", error: null });
  expect(mailServer.received).toHaveLength(1);
});

test("a shutdown waits for the answer to a message that was handed over", async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const mailServer = await openMailServer({ data: () => promise });
  const environment = smtp(mailServer, { PROGRAMME_DATABASE: await ownDatabase() });
  const first = await openMailSetup(environment);
  const { emailSendId } = await first.queue();
  await waitFor(() => expect(mailServer.received).toHaveLength(1));
  const closing = first.close();
  await delay(300);
  resolve(undefined);
  await closing;
  const second = await openMailSetup(environment, { clock: first.clock }, false);
  expect(await second.read(emailSendId)).toMatchObject({ status: "sent" });
});
