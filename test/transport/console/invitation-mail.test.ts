import { expect, test } from "vitest";
import { BrowserSession, openAs, password } from "../../identity/browser-session.ts";
import { type MailServer, openMailServer, openMailSetup, smtp } from "../../mail/mail-server.ts";

/** Returns the link in the last message that arrived. */
function readLink({ accepted }: MailServer): string {
  // Quoted-printable text continues a line after `=`.
  const text = accepted.at(-1)?.raw.replaceAll("=\r\n", "") ?? "";
  return /\/join\/\S+/.exec(text)?.[0] ?? "";
}

test("with a mail server, an invitation and a new link are mailed to the person and shown to nobody", async () => {
  const mailServer = await openMailServer();
  const { server } = await openMailSetup(smtp(mailServer), {}, false);
  const owner = await openAs(server);
  expect((await owner.open("/access/people/new")).text).toContain("The person gets a link by mail.");
  const invited = await owner.submit("/access/people", { email: "vera@example.org", role: "viewer" });
  expect([invited.status, invited.headers.get("location"), invited.text]).toEqual([303, "/access?done=mailed", ""]);
  expect((await owner.open("/access?done=mailed")).text).toContain("The link was mailed to the person.");
  expect(mailServer.accepted).toMatchObject([{ to: ["vera@example.org"] }]);
  const fields = { name: "Vera", password, repeated: password };
  expect((await new BrowserSession(server).submit(readLink(mailServer), fields)).status).toBe(303);

  const vera = await server.app.store.users.findByEmail("vera@example.org");
  await owner.submit(`/access/people/${vera?.userId}/link`);
  expect(mailServer.accepted).toMatchObject([{}, { to: ["vera@example.org"] }]);
  expect((await new BrowserSession(server).open(readLink(mailServer))).text).toContain("vera@example.org");
  // An address that is taken is not written to.
  expect((await owner.submit("/access/people", { email: "vera@example.org", role: "staff" })).status).toBe(422);
  expect(mailServer.accepted).toHaveLength(2);
});

test("a link that the mail server does not accept is shown once, with the reason", async () => {
  const mailServer = await openMailServer({ rcpt: () => "550 5.1.1 No such mailbox" });
  const { server } = await openMailSetup(smtp(mailServer), {}, false);
  const owner = await openAs(server);
  const { status, text } = await owner.submit("/access/people", { email: "vera@example.org", role: "viewer" });
  expect([status, text.includes("The mail server did not accept the message")]).toEqual([200, true]);
  const [link = ""] = /\/join\/[\w-]+/.exec(text) ?? [];
  expect((await new BrowserSession(server).open(link)).status).toBe(200);
});
