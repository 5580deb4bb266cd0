import { expect, onTestFinished, test } from "vitest";
import { type ApprovalRequest, createApprovals } from "../../src/approvals/approvals.ts";
import { createApprovalNotifier, noticeIntervalMs } from "../../src/approvals/notifier.ts";
import { sensitiveScope } from "../../src/contract/access/scopes.ts";
import { openAs } from "../identity/browser-session.ts";
import { openHome } from "../support/processes/program.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import { mailFrom, openMailServer, openMailSetup, readHeader, smtp } from "./mail-server.ts";

let made = 0;

/** Stores an approval that waits, as an agent's call does. */
async function requestApproval({ app, clock, businessId }: TestServer, given: Partial<ApprovalRequest> = {}) {
  const approvals = createApprovals({ store: app.store, clock, findTenant: async (realm) => realm });
  clock.advance(1);
  const callDigest = String(++made).padStart(64, "0");
  const approvalRequest = {
    tool: "eliminate_submission",
    caller: "tok_1",
    tokenId: "tok_1",
    clientName: "Client",
    callDigest,
  };
  const shown = {
    question: "Eliminate the submission of Ada Adams?",
    calls: [],
    longTexts: [],
    scopes: [],
    choices: [],
  };
  await approvals.request(businessId, { ...approvalRequest, ...shown, ...given });
}

async function openNotices() {
  const mailServer = await openMailServer();
  const { server, clock, all } = await openMailSetup(smtp(mailServer, { PROGRAMME_PUBLIC_URL: "https://x.example" }));
  const { users } = server.app.store;
  const join = async (name: string, given: Parameters<typeof openAs>[1] = {}) => {
    const email = `${name}@example.org`;
    const { businessId } = server;
    const author = { actorType: "user", actorId: "command_line" } as const;
    const invitee = { role: "staff", seesSensitive: false, businessId, email, ...given } as const;
    const invited = await server.app.userAdmin.invite(invitee, author);
    const { userId = "" } = invited?.user ?? {};
    await users.update(userId, { name });
    await users.approvalNotices.setWanted(server.businessId, userId, true);
  };
  const countFor = (name: string) => mailServer.accepted.filter(({ to }) => to[0] === `${name}@example.org`).length;
  const waitForMail = (name: string, count: number) =>
    waitFor(async () => {
      if (countFor(name) < count) throw new Error(`${name} has ${countFor(name)} messages`);
    });
  return { mailServer, server, clock, all, join, countFor, waitForMail };
}

test("people who want it are told of new approvals, once in five minutes, and of nothing more", async () => {
  const { mailServer, server, clock, all, join, countFor, waitForMail } = await openNotices();
  await join("rita");
  await join("vera", { role: "viewer" });
  for (let count = 0; count < 5; count++) await requestApproval(server);
  await waitForMail("rita", 1);
  const [message] = mailServer.accepted;
  expect(message && readHeader(message, "Subject")).toEqual(["Somebody's agent asks for a decision"]);
  expect(message?.raw).toContain("https://x.example/approvals");
  expect(message?.raw).not.toMatch(/eliminate|Ada|Client|tok_/);

  await requestApproval(server);
  // This message comes last: those before it were due earlier.
  await join("otto");
  await waitForMail("otto", 1);
  expect([countFor("rita"), countFor("vera")]).toEqual([1, 0]);
  clock.advance(noticeIntervalMs);
  await waitForMail("rita", 2);
  clock.advance(noticeIntervalMs);
  await requestApproval(server, { scopes: [sensitiveScope] });
  await join("sara", { seesSensitive: true });
  await waitForMail("sara", 1);
  expect(["rita", "otto", "vera"].map(countFor)).toEqual([2, 1, 0]);
  // Neither agents nor the audit see these messages.
  expect(await all()).toEqual([]);
});

test("a message that the server refuses for now is tried again after the pause", async () => {
  const { mailServer, server, clock, join, waitForMail } = await openNotices();
  mailServer.behaviour.data = () => "451 4.3.0 Later";
  await join("rita");
  await requestApproval(server);
  await waitFor(async () => {
    if (mailServer.received.length === 0) throw new Error("Nothing has come");
  });
  mailServer.behaviour = {};
  clock.advance(noticeIntervalMs);
  await waitForMail("rita", 1);
  expect(mailServer.received).toHaveLength(2);
});

test("several processes tell each person once", async () => {
  const { server, close } = await openTestServer();
  onTestFinished(close);
  const { store, userAdmin } = server.app;
  const names = Array.from({ length: 12 }, (_, index) => `p${index}@example.org`);
  for (const email of names) {
    const invitee = { businessId: server.businessId, email, role: "staff", seesSensitive: false } as const;
    const invited = await userAdmin.invite(invitee, { actorType: "user", actorId: "command_line" });
    await store.users.approvalNotices.setWanted(server.businessId, invited?.user.userId ?? "", true);
  }
  await requestApproval(server);
  const recipients: string[] = [];
  const send = async (email: string) => recipients.push(email) > 0;
  const { clock, app } = server;
  const start = () => {
    const notifier = createApprovalNotifier({ store, clock, log: app.log, send });
    notifier.start();
    onTestFinished(() => notifier.stop());
  };
  for (let count = 0; count < 3; count++) start();
  await waitFor(async () => {
    if (recipients.length < names.length) throw new Error(`${recipients.length} were told`);
  });
  expect(recipients.toSorted()).toEqual(names.toSorted());
});

test("people choose on the page of their account whether they get messages of approvals", async () => {
  const { server } = await openMailSetup(smtp(await openMailServer()));
  const { users } = server.app.store;
  const [browser, other] = [await openAs(server), await openAs(server, { email: "rita@example.org" })];
  const isWanted = async (email: string) => {
    const user = await users.findByEmail(email);
    return users.approvalNotices.isWanted(server.businessId, user?.userId ?? "");
  };
  const readBox = async (from = browser) =>
    /<input type="checkbox"[^>]*name="wanted"[^>]*>/.exec((await from.open("/account")).text)?.[0];
  expect(await readBox()).not.toContain("checked");
  expect((await browser.submit("/account/notices", { wanted: "yes" })).headers.get("location")).toBe(
    "/account?done=notices",
  );
  expect([await readBox(), await readBox(other)]).toEqual([
    expect.stringContaining("checked"),
    expect.not.stringContaining("checked"),
  ]);
  expect([await isWanted("olga@example.org"), await isWanted("rita@example.org")]).toEqual([true, false]);
  await browser.submit("/account/notices");
  expect(await isWanted("olga@example.org")).toBe(false);

  const viewer = await openAs(server, { email: "vera@example.org", role: "viewer" });
  expect(await readBox(viewer)).toBeUndefined();
  const { close, server: plain } = await openTestServer();
  onTestFinished(close);
  expect(await readBox(await openAs(plain))).toBeUndefined();
});

test("user invite and user link mail the link, and print it on demand or if mail fails", async () => {
  const mailServer = await openMailServer();
  const home = await openHome();
  const environment = { PROGRAMME_SMTP_URL: mailServer.url, PROGRAMME_MAIL_FROM: mailFrom };
  const run = (...args: string[]) => home.run(["user", ...args, "--database", home.database], environment);
  const mailed = await run("invite", "olga@example.org", "--role", "owner");
  expect(mailed).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^The link is for a server at http:\/\/localhost:3000\. .*PROGRAMME_PUBLIC_URL.*\n$/),
    stdout: expect.stringContaining("was mailed to olga@example.org"),
  });
  expect(mailed.stdout).not.toContain("/join/");
  expect(mailServer.accepted).toMatchObject([{ to: ["olga@example.org"] }]);
  expect(mailServer.accepted[0]?.raw).toContain("http://localhost:3000/join/");
  expect(JSON.parse((await run("link", "olga@example.org", "--json")).stdout)).not.toHaveProperty("link");
  const printed = await run("link", "olga@example.org", "--print");
  expect([printed.stdout, mailServer.accepted.length]).toEqual([expect.stringContaining("/join/"), 2]);
  expect(printed.stderr).toContain("server at http://localhost:3000");
  const configured = { ...environment, PROGRAMME_PUBLIC_URL: "https://calls.example.org" };
  const named = await home.run(
    ["user", "link", "olga@example.org", "--print", "--database", home.database],
    configured,
  );
  expect(named.stdout).toMatch(/^https:\/\/calls\.example\.org\/join\//);
  expect(named.stderr).not.toContain("server at");
  mailServer.behaviour.rcpt = () => "550 5.1.1 No such mailbox";
  const failed = await run("link", "olga@example.org");
  expect([failed.code, failed.stdout]).toEqual([0, expect.stringMatching(/\/join\//)]);
  expect(failed.stderr).toContain("did not accept the message to olga@example.org");
});
