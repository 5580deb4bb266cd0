import { describe, expect } from "vitest";
import { ordinaryScopes, type Scope } from "../../../src/contract/access/scopes.ts";
import { BrowserSession, openAs, password } from "../../identity/browser-session.ts";
import { openMemoryServer, runDueExports } from "../../support/data/exports.ts";
import { type TestServer, test } from "../../support/servers/test-server.ts";

const address = "ada@secret.example.org";

async function seedApplicant({ seed }: TestServer) {
  const { programId } = await seed.program();
  await seed.submission({ programId, innovatorEmail: address, state: "SUBMITTED" });
  await seed.emailSend({ programId, recipientEmail: address, status: "sent" });
  return programId;
}

async function readFile(browser: Awaited<ReturnType<typeof openAs>>, path: string) {
  const { status, headers } = await browser.open(path);
  const location = headers.get("location");
  if (status !== 303 || !location?.includes("/exports/")) return { status, text: "" };
  return { status, text: await (await fetch(location)).text() };
}

describe("a person without the right to sensitive data", () => {
  test("sees no address in the list of messages, and an owner with the right does", async ({ server }) => {
    await seedApplicant(server);
    const staff = await openAs(server, { role: "staff", email: "sam@example.org" });
    const owner = await openAs(server, { role: "owner", seesSensitive: true });
    expect((await staff.open("/integrations/mail?status=sent")).text).not.toContain("secret.example");
    expect((await owner.open("/integrations/mail?status=sent")).text).toContain(address);
    const { rows } = await server.app.store
      .reader(server.businessId)
      .pageAudit({ action: "email_send.listed" }, { limit: 10 });
    expect(rows).toHaveLength(2);
  });

  test("starts exports without addresses, and gets no file that has them", async ({ server }) => {
    const programId = await seedApplicant(server);
    const staff = await openAs(server, { role: "staff", email: "sam@example.org" });
    const owner = await openAs(server, { role: "owner", seesSensitive: true });
    await staff.submit("/integrations/exports", { programId });
    await owner.submit("/integrations/exports", { programId });
    await runDueExports(server);
    const listed = (await owner.open("/integrations/exports")).text;
    const paths = [...new Set(listed.match(/\/integrations\/exports\/[\w-]+\/file/g))];
    expect(paths).toHaveLength(2);
    const [ownersFile = "", staffFile = ""] = paths;
    expect((await readFile(owner, ownersFile)).text).toContain(address);
    expect((await readFile(staff, ownersFile)).text).toBe("");
    const own = await readFile(staff, staffFile);
    expect([own.text.length > 100, own.text.includes("secret.example")]).toEqual([true, false]);
  });

  test("gets an agent's file only if the agent saw no sensitive data", async () => {
    const server = await openMemoryServer({ PROGRAMME_PRIVACY: "pseudonymize" });
    const programId = await seedApplicant(server);
    const staff = await openAs(server, { role: "staff", email: "sam@example.org" });
    const owner = await openAs(server, { role: "owner", seesSensitive: true });
    const read = async (scopes: readonly Scope[] | undefined) => {
      const { exportId } = await (await server.as("MCP", scopes)).create_export({ programId });
      await runDueExports(server);
      const path = `/integrations/exports/${exportId}/file`;
      return [(await staff.open(path)).status, (await owner.open(path)).status];
    };
    expect(await read(undefined)).toEqual([403, 303]);
    expect(await read(ordinaryScopes)).toEqual([303, 303]);
  });
});

test("a HEAD request opens no stream of approvals, and a person has only some of them", async ({ server }) => {
  const browser = await openAs(server, { role: "viewer" });
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const ending = new AbortController();
  const open = (method: string) =>
    fetch(`${browser.origin}/live/approvals`, { method, headers: { cookie }, signal: ending.signal });
  for (let sent = 0; sent < 12; sent++) expect((await open("HEAD")).status).toBe(405);
  const answers = await Promise.all(Array.from({ length: 12 }, () => open("GET")));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(10).fill(200), 503, 503]);
  ending.abort();
});

test("a new password by a link removes the passkeys and connected apps of whoever had the account", async ({
  server,
}) => {
  await openAs(server, { role: "owner" });
  const { users } = server.app.store;
  const [user] = await users.list(server.businessId);
  const userId = String(user?.userId);
  const passkey = { id: "pk", userId, publicKey: "k", credentialID: "c", deviceType: "x", counter: 0, backedUp: 0 };
  await users.database.insertInto("userPasskeys").values(passkey).execute();
  const { secret } = await server.app.userAdmin.issueLink(userId, { actorType: "user", actorId: "command_line" });
  await new BrowserSession(server).submit(`/join/${secret}`, { name: "Olga", password, repeated: password });
  expect(await users.database.selectFrom("userPasskeys").selectAll().execute()).toEqual([]);
});
