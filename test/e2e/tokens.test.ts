import { expect, test } from "vitest";
import { browsers } from "../resources/resource-clients.ts";
import { send } from "../support/clients/raw-http.ts";
import { type Home, openHome } from "../support/processes/program.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";

async function serve(home: Home) {
  const started = home.start(["http", "--port", "0", "--database", home.database]);
  const [, origin = ""] = await started.printed(/REST +(http:\/\/\S+)\/integrations\/v1\n/);
  return { started, origin };
}

async function open() {
  const home = await openHome();
  const { started, origin } = await serve(home);
  const on = ["--database", home.database, "--json"];
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await home.run(["token", ...args, ...on]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    return JSON.parse(stdout);
  };
  const refused = async (...args: string[]) => (await home.run(["token", ...args, ...on])).stderr;
  const ask = (token: string, path: string) =>
    send(`${origin}/integrations/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
  return { started, origin, run, refused, ask };
}

test("an updated token has its new scopes, name and expiry at once in a running process, and its clients are notified", async () => {
  const { started, origin, run, refused, ask } = await open();
  const { token, tokenId } = await run("create", "--scopes", "programs:read", "--name", "triage");
  const connect = browsers["2025-era over HTTP"] as (typeof browsers)[string];
  const browser = await connect({ origin } as TestServer, token);
  const names = async () => {
    const { tools } = await browser.client.listTools({}, { cacheMode: "refresh" });
    return tools.map(({ name }: { name: string }) => name);
  };
  await browser.follow("programme://programs/prg_1");
  expect(await names()).toEqual(expect.arrayContaining(["list_programs", "get_connection"]));
  expect((await ask(token, "/payments?status=pending")).status).toBe(403);

  const updated = await run("update", tokenId, "--scopes", "payments:read,audit:read", "--name", "finance");
  expect(updated).toMatchObject({ tokenId, name: "finance", scopes: ["payments:read", "audit:read"], expiresAt: null });
  expect(JSON.stringify(updated)).not.toMatch(/sha256|[0-9a-f]{64}/);
  expect((await ask(token, "/payments?status=pending")).status).toBe(200);
  expect((await ask(token, "/programs")).status).toBe(403);
  await waitFor(() => expect(browser.notifications.lists).toContain("tools"));
  expect(await names()).toEqual(expect.arrayContaining(["list_payments", "list_audit_entries"]));
  expect(await names()).not.toContain("list_programs");

  await run("update", tokenId, "--expires", "1d");
  expect((await run("update", tokenId, "--expires", "never")).expiresAt).toBeNull();
  expect(await run("list")).toContainEqual(expect.objectContaining({ tokenId, name: "finance", expiresAt: null }));
  expect(await refused("update", tokenId)).toMatch(/give --scopes, --expires or --name/);
  expect(await refused("update", tokenId, "--scopes", "payments:raed")).toMatch(/"payments:raed"/);
  expect(await refused("update", "tok_none", "--name", "x")).toMatch(/tok_none is not a token.*token list/);

  await run("revoke", tokenId);
  expect((await ask(token, "/payments?status=pending")).status).toBe(401);
  expect(await refused("update", tokenId, "--scopes", "all")).toMatch(/revoked/);
  const auditor = await run("create", "--scopes", "audit:read");
  const { body } = await ask(auditor.token, "/audit?entityType=token");
  const common = { entityType: "token", entityId: tokenId, actorType: "user", tokenId: null };
  const changes = (body.data as { entityId: string; action: string }[]).filter(({ entityId }) => entityId === tokenId);
  expect(changes).toMatchObject([
    { ...common, action: "token.revoked", changes: [{ path: "revokedAt", from: null, to: expect.any(String) }] },
    { ...common, action: "token.updated", changes: [{ path: "expiresAt", from: expect.any(String), to: null }] },
    { ...common, action: "token.updated", changes: [{ path: "expiresAt", from: null, to: expect.any(String) }] },
    {
      ...common,
      action: "token.updated",
      changes: [{ path: "name" }, { path: "scopes", from: ["programs:read"], to: ["payments:read", "audit:read"] }],
    },
    { ...common, action: "token.created" },
  ]);
  expect(JSON.stringify(body)).not.toMatch(/finance|triage|[0-9a-f]{64}/);
  await started.stop();
});
