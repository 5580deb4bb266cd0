import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readScopes, scopes } from "../../src/contract/access/scopes.ts";
import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { type Home, openHome } from "../support/processes/program.ts";
import { listTools, postMcp } from "../support/servers/gateway.ts";

async function made(home: Home, args: readonly string[]) {
  const { stdout, stderr, code } = await home.run(["gateway-key", "create", "--json", ...args]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as { key: string; entry: Record<string, unknown> };
}

describe("gateway-key create", () => {
  test("prints a key and its entry with the key's hash", async () => {
    const home = await openHome();
    const { code, stdout, stderr } = await home.run(["gateway-key", "create", "--name", "crm"]);
    const [key = "", entry = "", ...rest] = stdout.split("\n");
    expect([code, rest]).toEqual([0, [""]]);
    expect(key).toMatch(/^gwk_[0-9a-f]{64}$/);
    expect(JSON.parse(entry)).toEqual({ name: "crm", sha256: hashSha256Hex(key), scopes: readScopes });
    expect(entry).not.toContain(key.slice(4));
    expect(stderr).toMatch(/not shown again/);
    expect(stderr).not.toContain(key);
  });

  test("writes what it is told into the entry", async () => {
    const home = await openHome();
    const { entry } = await made(home, [
      "--name",
      "x",
      "--scopes",
      "all",
      "--token-variable",
      "CRM_TOKEN",
      "--expires",
      "30d",
    ]);
    expect(entry).toMatchObject({ scopes, tokenVariable: "CRM_TOKEN", expiresAt: expect.stringMatching(/^20.*Z$/) });
    expect((await made(home, ["--name", "x", "--token-file", "tokens/crm"])).entry).toMatchObject({
      tokenFile: "tokens/crm",
    });
  });

  test.each<[string[], RegExp]>([
    [[], /--name/],
    [["--name", "a b"], /--name must be/],
    [["--name", "a", "--scopes", "programs:raed"], /"programs:raed"/],
    [["--name", "a", "--token-variable", "A", "--token-file", "b"], /both/],
    [["--name", "a", "--token-variable", `a${"1".repeat(63)}`], /--token-variable must be.*not a token/],
    [["--name", "a", "--expires", "yesterday"], /"yesterday"/],
  ])("refuses %j in one line, without a key", async (args, named) => {
    const home = await openHome();
    const { code, stdout, stderr } = await home.run(["gateway-key", "create", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(named);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).not.toMatch(/gwk_|1{63}/);
  });
});

describe("the program with a file of keys", () => {
  async function openSetup() {
    const home = await openHome();
    const database = ["--database", home.database];
    const token = (await home.run(["token", "create", ...database])).stdout.trim();
    const file = join(home.path, "keys.json");
    await writeFile(file, "[]", { mode: 0o600 });
    const args = ["http", "--port", "0", "--gateway-keys", file, ...database];
    return { home, file, token, start: () => home.start(args, { PROGRAMME_TOKEN: token }) };
  }

  test("reloads it on SIGHUP", async () => {
    const { home, file, token, start } = await openSetup();
    const started = start();
    const [, origin = ""] = await started.printed(/MCP +(http:\/\/\S+)\/mcp\n/);
    await started.printed(/Keys +programme-mcp gateway-key create/);
    const { key, entry } = await made(home, ["--name", "crm", "--scopes", "programs:read"]);
    expect((await postMcp({ origin }, key, listTools)).status).toBe(401);
    expect((await postMcp({ origin }, token, listTools)).status).toBe(401);
    await writeFile(file, JSON.stringify([entry]));
    started.process.kill("SIGHUP");
    await expect.poll(async () => (await postMcp({ origin }, key, listTools)).status).toBe(200);
    started.process.kill("SIGHUP");
    expect((await postMcp({ origin }, key, listTools)).text).toContain("list_programs");
    const { code, stdout, stderr } = await started.stop("SIGTERM");
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain(token);
    expect(stdout + stderr).not.toContain(key);
  });

  test("does not start if others can read it", async () => {
    const { file, token, start } = await openSetup();
    await chmod(file, 0o644);
    const { code, stdout, stderr } = await start().ended();
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^error: PROGRAMME_GATEWAY_KEYS: [^\n]*chmod 600[^\n]*\n$/);
    expect(stderr).not.toContain(token);
  });
});
