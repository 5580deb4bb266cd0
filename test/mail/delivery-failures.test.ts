import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { mailRetryDelaysMs } from "../../src/mail/retry-schedule.ts";
import { listChanges } from "../support/data/state.ts";
import { waitFor } from "../support/wait.ts";
import { openMailServer, openMailSetup, type ServerBehaviour, smtp } from "./mail-server.ts";

const recipientEmail = "ada.marsh@example.org";

describe("a message that the mail server defers", () => {
  test("is queued with the reason, and sent once later", async () => {
    const replies = ["450 4.2.0 <ada.marsh@example.org>: Greylisted, try again", "421 4.3.2 Going down"];
    const mailServer = await openMailServer({ rcpt: () => replies.shift() });
    const { clock, queue, waitForSend } = await openMailSetup(smtp(mailServer));
    const { emailSendId } = await queue({ recipientEmail });
    await waitForSend(emailSendId, { status: "queued", error: "450 4.2.0 [address]: Greylisted, try again" });
    await delay(700);
    expect(mailServer.connections()).toBe(1);
    clock.advance(60_000);
    await waitForSend(emailSendId, { status: "queued", error: "421 4.3.2 Going down" });
    clock.advance(300_000);
    await waitForSend(emailSendId, { status: "sent", error: null });
    expect(mailServer.accepted).toHaveLength(1);
  });

  test("fails after two days of attempts", async () => {
    let attempts = 0;
    const mailServer = await openMailServer({ data: () => `451 4.7.1 Too busy ${++attempts}` });
    const { clock, queue, waitForSend } = await openMailSetup(smtp(mailServer));
    const { emailSendId } = await queue();
    const { version } = await waitForSend(emailSendId, { status: "queued", error: "451 4.7.1 Too busy 1" });
    for (const [index, delayMs] of mailRetryDelaysMs.entries()) {
      await waitForSend(emailSendId, { status: "queued", error: `451 4.7.1 Too busy ${index + 1}` });
      clock.advance(delayMs);
    }
    const failed = await waitForSend(emailSendId, { status: "failed", error: "451 4.7.1 Too busy 11 (11 attempts)" });
    expect(failed.version).toBe(version + 10);
    expect(mailServer.received).toHaveLength(11);
    expect(mailServer.accepted).toEqual([]);
  });
});

describe("a message that the mail server rejects permanently because of", () => {
  const cases: readonly [name: string, behaviour: ServerBehaviour, status: "bounced" | "failed", error: string][] = [
    [
      "a mailbox that is not there",
      { rcpt: () => "550 5.1.1 <ada.marsh@example.org> User ada.marsh unknown; see ada.marsh@example.org" },
      "bounced",
      "550 5.1.1 [address] User [address] unknown; see [address]",
    ],
    ["a full mailbox", { rcpt: () => "552 5.2.2 Mailbox full" }, "bounced", "552 5.2.2 Mailbox full"],
    ["a recipient, with no more said", { rcpt: () => "550 No" }, "bounced", "550 No"],
    ["a sender", { mail: () => "553 5.7.1 Not yours to send as" }, "failed", "553 5.7.1 Not yours to send as"],
    ["what it says", { data: () => "554 5.7.1 Looks like spam" }, "failed", "554 5.7.1 Looks like spam"],
    [
      "a mailbox, only after the message",
      { data: () => "550 5.1.1 No such user" },
      "bounced",
      "550 5.1.1 No such user",
    ],
  ];

  test.each(cases)("%s", async (_, behaviour, status, error) => {
    const mailServer = await openMailServer(behaviour);
    const { server: testServer, clock, queue, waitForSend } = await openMailSetup(smtp(mailServer));
    const { emailSendId } = await queue({ recipientEmail });
    const row = await waitForSend(emailSendId, { status, error });
    expect(row.sentAt).toBeNull();
    const connections = mailServer.connections();
    clock.advance(3 * 24 * 3_600_000);
    await delay(700);
    expect([mailServer.connections(), mailServer.accepted]).toEqual([connections, []]);
    const suppressed = await testServer.app.store.reader(testServer.businessId).find("suppressions", {}, { limit: 10 });
    const gone = error.startsWith("550 5.1.1");
    expect(suppressed.map(({ email, reason }) => [email, reason])).toEqual(gone ? [[recipientEmail, "bounced"]] : []);
    const audit = await listChanges(testServer.app.store, testServer.businessId);
    expect(audit.map(({ action }) => action).toSorted()).toEqual(
      [`email_send.${status}`, ...(gone ? ["suppression.created"] : [])].toSorted(),
    );
    expect(JSON.stringify(audit)).not.toMatch(/\b(?:ada|marsh)\b|example\.org/i);
  });

  test("a long or multi-line reply is stored as one shortened line", async () => {
    const mailServer = await openMailServer({ rcpt: () => `550 5.7.1 ${"Because. ".repeat(60)}\nReally` });
    const { queue, waitForSend } = await openMailSetup(smtp(mailServer));
    const { error } = await waitForSend((await queue()).emailSendId, { status: "bounced" });
    expect(error).toMatch(/^550 5\.7\.1 (Because\. ?)+/);
    expect(error).not.toMatch(/\n/);
    expect(error?.length).toBeLessThanOrEqual(300);
  });

  test("a message to an invalid address fails without a connection", async () => {
    const mailServer = await openMailServer();
    const { queue, waitForSend } = await openMailSetup(smtp(mailServer));
    const { emailSendId } = await queue({ recipientEmail: "ada" });
    await waitForSend(emailSendId, { status: "failed", error: "The address is not one that can be sent to" });
    expect(mailServer.connections()).toBe(0);
  });
});

describe("a mail server", () => {
  test("that refuses connections gets its messages once it is back", async () => {
    const closed = await openMailServer();
    await closed.close();
    const { clock, queue, all, waitForSend } = await openMailSetup(smtp(closed, { PROGRAMME_MAIL_CONCURRENCY: "2" }));
    for (let count = 0; count < 20; count++) await queue();
    const refused = "The mail server refused the connection";
    await waitFor(async () => expect((await all()).some(({ error }) => error === refused)).toBe(true));
    await delay(600);
    // Not every message has to find it out for itself.
    expect((await all()).filter(({ error }) => error !== null).length).toBeLessThanOrEqual(4);
    const mailServer = await openMailServer({}, {}, closed.port);
    clock.advance(60_000);
    for (const { emailSendId } of await all()) await waitForSend(emailSendId, { status: "sent", error: null });
    expect(mailServer.accepted).toHaveLength(20);
  });

  test("that does not answer causes a timeout", async () => {
    const held = new Set<{ destroy(): void }>();
    const server = createServer((socket) => void held.add(socket.on("error", () => undefined)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const url = { url: `smtp://127.0.0.1:${port}` } as Parameters<typeof smtp>[0];
    const { queue, waitForSend } = await openMailSetup(smtp(url, { PROGRAMME_SMTP_TIMEOUT_SECONDS: "1" }));
    const { emailSendId } = await queue();
    await waitForSend(emailSendId, { status: "queued", error: "The mail server did not answer in time" });
    for (const socket of held) socket.destroy();
    server.close();
  });

  test("that times out before the handover gets the message again; one that times out after it does not", async () => {
    let slow = true;
    const mailServer = await openMailServer({ rcpt: async () => void (slow && (await delay(1_500))) });
    const { clock, queue, waitForSend } = await openMailSetup(
      smtp(mailServer, { PROGRAMME_SMTP_TIMEOUT_SECONDS: "1" }),
    );
    const first = await queue();
    await waitForSend(first.emailSendId, { status: "queued", error: "The mail server did not answer in time" });
    expect(mailServer.received).toEqual([]);
    slow = false;
    clock.advance(60_000);
    await waitForSend(first.emailSendId, { status: "sent" });
    mailServer.behaviour = { data: async () => void (await delay(1_500)) };
    const second = await queue();
    const { error } = await waitForSend(second.emailSendId, { status: "failed" });
    expect(error).toMatch(/^It is not known whether/);
    clock.advance(3 * 24 * 3_600_000);
    await delay(1_000);
    expect(mailServer.received).toHaveLength(2);
  });

  test("that disconnects after the handover does not get the message again", async () => {
    const mailServer = await openMailServer({
      data: () => {
        mailServer.cut();
        return new Promise(() => undefined);
      },
    });
    const { clock, queue, waitForSend } = await openMailSetup(smtp(mailServer));
    const { emailSendId } = await queue();
    const { error } = await waitForSend(emailSendId, { status: "failed" });
    expect(error).toMatch(/^It is not known whether/);
    clock.advance(3 * 24 * 3_600_000);
    await delay(700);
    expect(mailServer.received).toHaveLength(1);
  });

  test("that disconnects before the handover gets the message again over a new connection", async () => {
    let cuts = 1;
    const mailServer = await openMailServer({
      rcpt: () => {
        if (cuts-- > 0) mailServer.cut();
        return undefined;
      },
    });
    const { clock, queue, waitForSend } = await openMailSetup(smtp(mailServer));
    const { emailSendId } = await queue();
    const { error } = await waitForSend(emailSendId, { status: "queued", version: 1 });
    expect(error).toMatch(/^The connection to the mail server failed/);
    clock.advance(60_000);
    await waitForSend(emailSendId, { status: "sent" });
    expect(mailServer.received).toHaveLength(1);
  });

  test("that closes an idle connection gets the next message over a new one at once", async () => {
    let cuts = 1;
    const mailServer = await openMailServer({
      mail: () => {
        if (mailServer.accepted.length === 1 && cuts-- > 0) mailServer.cut();
        return undefined;
      },
    });
    const { queue, waitForSend } = await openMailSetup(smtp(mailServer, { PROGRAMME_MAIL_CONCURRENCY: "1" }));
    const sends = await Promise.all([queue(), queue(), queue()]);
    for (const { emailSendId } of sends) await waitForSend(emailSendId, { status: "sent", version: 1 });
    expect([mailServer.accepted.length, mailServer.connections()]).toEqual([3, 2]);
  });

  test("that rejects the credentials leaves messages queued, and is not tried for each message", async () => {
    const refuse = (_: unknown, __: unknown, done: (error: Error) => void) =>
      done(Object.assign(new Error("5.7.8 Wrong user or password"), { responseCode: 535 }));
    const mailServer = await openMailServer({}, { authOptional: false, onAuth: refuse as never });
    const url = { ...mailServer, url: mailServer.url.replace("//", "//robot:se%40cret@") };
    const { queue, waitForSend } = await openMailSetup(smtp(url));
    const { emailSendId } = await queue();
    const { error } = await waitForSend(emailSendId, { status: "queued", error: "535 5.7.8 Wrong user or password" });
    expect(error).not.toMatch(/robot|cret/);
    expect(mailServer.connections()).toBe(1);
  });

  test("accepts messages with the right credentials", async () => {
    const seen: unknown[] = [];
    const accept = (auth: { username?: string; password?: string }, _: unknown, done: (e: null, r: object) => void) => {
      seen.push([auth.username, auth.password]);
      done(null, { user: auth.username });
    };
    const mailServer = await openMailServer({}, { authOptional: false, onAuth: accept as never });
    const url = { ...mailServer, url: mailServer.url.replace("//", "//robot:se%40cret@") };
    const { queue, waitForSend } = await openMailSetup(smtp(url));
    await waitForSend((await queue()).emailSendId, { status: "sent" });
    expect(seen).toEqual([["robot", "se@cret"]]);
  });
});
