import { networkInterfaces } from "node:os";
import type { SMTPServerOptions } from "smtp-server";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { UsageError } from "../../src/config/usage-error.ts";
import { selfSigned } from "../webhooks/certificate.ts";
import { mailFrom, openMailServer, openMailSetup, smtp } from "./mail-server.ts";

const from = { PROGRAMME_MAIL_FROM: mailFrom };

describe("the mail server's address", () => {
  test.each([
    "smtp://127.0.0.1:2525",
    "smtp://mail.example.org",
    "smtps://robot:p%40ss@mail.example.org:465/",
    "smtp://[::1]:25",
  ])("may be %s", (url) => {
    expect(loadConfig({ PROGRAMME_SMTP_URL: url, ...from }).smtpUrl).toBe(url);
  });

  test.each([
    "mail.example.org",
    "http://mail.example.org",
    "smtp://",
    "smtp://:25",
    "smtp://mail.example.org/path",
    "smtp://mail.example.org?pool=true",
    "smtp://mail.example.org:99999",
    "smtp://robot:%zz@mail.example.org",
  ])("may not be %s, and is not repeated", (url) => {
    const load = () => loadConfig({ PROGRAMME_SMTP_URL: url, ...from });
    expect(load).toThrow(UsageError);
    expect(load).toThrow(/^PROGRAMME_SMTP_URL must be smtp:/);
    expect(load).not.toThrow(/mail\.example\.org|robot/);
  });

  test("needs a sender beside it", () => {
    expect(() => loadConfig({ PROGRAMME_SMTP_URL: "smtp://localhost" })).toThrow(/^PROGRAMME_MAIL_FROM is needed/);
  });
});

describe("the sender", () => {
  test.each([
    ["calls@example.org", { name: "", address: "calls@example.org" }],
    ["Open Calls <calls@example.org>", { name: "Open Calls", address: "calls@example.org" }],
    ['"Calls, open" <calls@example.org>', { name: "Calls, open", address: "calls@example.org" }],
    ["<calls@example.org>", { name: "", address: "calls@example.org" }],
  ])("may be %s", (text, mailbox) => {
    expect(loadConfig({ PROGRAMME_MAIL_FROM: text }).mailFrom).toEqual(mailbox);
  });

  test.each([
    "calls",
    "Calls <calls>",
    "Calls <calls@example.org",
    "a@example.org, b@example.org",
    "Calls\nBcc: x <calls@example.org>",
    "<a@example.org> <b@example.org>",
    `${"x".repeat(101)} <calls@example.org>`,
  ])("may not be %j", (text) => {
    expect(() => loadConfig({ PROGRAMME_MAIL_FROM: text })).toThrow(/^PROGRAMME_MAIL_FROM must be an e-mail address/);
  });
});

test("a mail server with an untrusted certificate gets no message", async () => {
  const mailServer = await openMailServer({}, { secure: true, ...selfSigned(["localhost"]) });
  const { queue, waitForSend } = await openMailSetup(
    smtp({ ...mailServer, url: mailServer.url.replace("smtp:", "smtps:") }),
  );
  const { emailSendId } = await queue();
  const { error } = await waitForSend(emailSendId, { status: "queued", version: 1 });
  expect(error).toMatch(/^The connection to the mail server/);
  expect(mailServer.received).toEqual([]);
});

const [outside] = Object.values(networkInterfaces())
  .flat()
  .filter((address) => address?.family === "IPv4" && !address.internal);

test.skipIf(!outside)("credentials are never sent unencrypted to another machine", async () => {
  const seen: string[] = [];
  const onAuth: SMTPServerOptions["onAuth"] = (auth, _, done) => {
    seen.push(String(auth.password));
    done(null, { user: auth.username });
  };
  const options = { authOptional: false, allowInsecureAuth: true, onAuth };
  const mailServer = await openMailServer({}, options, 0, "0.0.0.0");
  const url = `smtp://robot:secret@${outside?.address}:${mailServer.port}`;
  const { queue, waitForSend } = await openMailSetup(smtp({ ...mailServer, url }));
  const { emailSendId } = await queue();
  const { error } = await waitForSend(emailSendId, { status: "queued", version: 1 });
  expect(error).toBe("The connection to the mail server could not be encrypted");
  expect([seen, mailServer.received]).toEqual([[], []]);
});
