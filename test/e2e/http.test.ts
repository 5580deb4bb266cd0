import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstMajorClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstMajorTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, test } from "vitest";
import { callNames } from "../../src/contract/index.ts";
import { send } from "../support/clients/raw-http.ts";
import { type Home, openHome } from "../support/processes/program.ts";

const info = { name: "test", version: "1.0.0" };

/** Starts the service, and reads its address and the token that it prints. */
async function serve(home: Home, args: readonly string[], environment: Record<string, string> = {}) {
  const started = home.start(["http", "--port", "0", ...args], environment);
  const [, origin = ""] = await started.printed(/REST +(http:\/\/\S+)\/integrations\/v1\n/);
  const [, token = ""] = await started.printed(/Token +(.*)\n/);
  return { started, origin, token };
}

const listPrograms = (origin: string, token: string) =>
  send(`${origin}/integrations/v1/programs`, { headers: { authorization: `Bearer ${token}` } });

describe("the program over HTTP", () => {
  test("prints its address and a token that works for REST and both SDK majors", async () => {
    const home = await openHome();
    const { started, origin, token } = await serve(home, ["--database", home.database, "--demo"]);
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    const { status, body } = await listPrograms(origin, token);
    expect([status, body.success]).toEqual([200, true]);
    expect(body.data.length).toBeGreaterThan(1);

    const url = new URL(`${origin}/mcp`);
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    for (const mode of ["auto", "legacy", { pin: "2026-07-28" }] as const) {
      const client = new Client(info, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
      expect((await client.listTools()).tools).toHaveLength(callNames.length + 2);
      await client.close();
    }
    const client = new FirstMajorClient(info);
    const transport = new FirstMajorTransport(url, { requestInit });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    expect((await client.listTools()).tools).toHaveLength(callNames.length + 2);
    const { content } = await client.callTool({ name: "list_programs", arguments: {} });
    expect(JSON.stringify(content)).toContain(body.data[0].programId);
    await client.close();

    const { stdout } = await started.stop();
    expect(stdout).toContain(`"Authorization": "Bearer ${token}"`);
    expect(stdout).toContain(`"url": "${origin}/mcp"`);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("ends cleanly on %s", async (signal) => {
    const home = await openHome();
    const { started, origin } = await serve(home, ["--database", home.database]);
    expect((await send(`${origin}/healthz`, {})).body).toEqual({ status: "ok" });
    const { code, stderr } = await started.stop(signal);
    expect([code, stderr]).toEqual([0, ""]);
    await expect(send(`${origin}/healthz`, {})).rejects.toThrow();
  });

  test("keeps the token it printed across restarts, until that is revoked", async () => {
    const home = await openHome();
    const first = await serve(home, []);
    await first.started.stop();
    const second = await serve(home, []);
    expect(second.token).toBe(first.token);
    expect((await listPrograms(second.origin, first.token)).status).toBe(200);

    const [{ tokenId }] = JSON.parse((await home.run(["token", "list", "--json"])).stdout).filter(
      ({ name }: { name: string }) => name === "local",
    );
    expect((await home.run(["token", "revoke", tokenId])).code).toBe(0);
    expect((await listPrograms(second.origin, first.token)).status).toBe(401);
    await second.started.stop();
    const third = await serve(home, []);
    expect(third.token).not.toBe(first.token);
    expect((await listPrograms(third.origin, third.token)).status).toBe(200);
    await third.started.stop();
  });

  test("prints no token for a named database, but how to create one", async () => {
    const home = await openHome();
    const { started, token } = await serve(home, ["--database", home.database]);
    expect(token).toBe(`programme-mcp token create --database ${home.database}`);
    await started.stop();
    expect(await readdir(home.path)).not.toContain("programme.db.token");
  });

  test("applies tokens created and revoked by other processes at once", async () => {
    const home = await openHome();
    const { started, origin } = await serve(home, ["--database", home.database]);
    const created = await home.run(["token", "create", "--database", home.database, "--json"]);
    const { token, tokenId } = JSON.parse(created.stdout);
    expect((await listPrograms(origin, token)).status).toBe(200);
    expect((await home.run(["token", "revoke", tokenId, "--database", home.database])).code).toBe(0);
    expect((await listPrograms(origin, token)).body.error.code).toBe("invalid_token");
    await started.stop();
  });

  test("creates files that only their owner can read", async () => {
    const home = await openHome();
    const dataDir = join(home.path, "data");
    const { started, origin, token } = await serve(home, ["--data-dir", dataDir]);
    await listPrograms(origin, token);
    await expectPrivate(dataDir);
    await started.stop();
    await expectPrivate(dataDir);
  });
});

async function expectPrivate(directory: string): Promise<void> {
  const names = await readdir(directory, { recursive: true });
  expect(names.length).toBeGreaterThan(3);
  for (const name of ["", ...names]) {
    // A file that is being written may have been renamed since the directory was listed.
    const found = await stat(join(directory, name)).catch(() => undefined);
    expect((found?.mode ?? 0) & 0o077, name).toBe(0);
  }
}
