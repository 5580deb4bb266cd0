import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { type Home, openHome } from "../support/processes/program.ts";
import { openIssuer } from "../support/servers/issuer.ts";
import { TestClock } from "../support/servers/test-server.ts";

interface Check {
  readonly name: string;
  readonly status: string;
  readonly found: string;
  readonly fix?: string;
}

async function examine(home: Home, environment: Record<string, string>) {
  const { code, stdout, stderr } = await home.run(["doctor", "--json", "--database", home.database], environment);
  expect(stderr).toBe("");
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  expect(code).toBe(ok ? 0 : 1);
  return { ok, of: (name: string) => checks.find((check) => check.name === name), text: stdout };
}

async function furnish(home: Home, entries: unknown, mode = 0o600) {
  const token = (await home.run(["token", "create", "--database", home.database])).stdout.trim();
  const file = join(home.path, "keys.json");
  await writeFile(file, JSON.stringify(entries), { mode });
  await chmod(file, mode);
  return { file, token, environment: { PROGRAMME_GATEWAY_KEYS: file, PROGRAMME_TOKEN: token } };
}

const entry = (name: string, more: object = {}) => ({ name, sha256: hashSha256Hex(name), ...more });

describe("gateway keys", () => {
  test("are read, and their product tokens are checked", async () => {
    const home = await openHome();
    const { environment, token } = await furnish(home, [entry("crm"), entry("bi")]);
    const { ok, of, text } = await examine(home, environment);
    expect(ok).toBe(true);
    expect(of("gateway keys")).toMatchObject({ status: "ok", found: "The file can be read and names 2 callers." });
    expect(of("tokens of keys")?.found).toBe("The service knows 1 access token that the keys stand for.");
    expect(text).not.toContain(token);
  });

  test("with an unknown product token are listed", async () => {
    const home = await openHome();
    const { environment } = await furnish(home, [entry("crm"), entry("old", { tokenVariable: "OLD_TOKEN" })]);
    const { ok, of, text } = await examine(home, { ...environment, OLD_TOKEN: "e".repeat(64) });
    expect(ok).toBe(false);
    expect(of("tokens of keys")).toMatchObject({
      status: "fail",
      found: expect.stringMatching(/^The calls of old are refused\./),
    });
    expect(text).not.toContain("e".repeat(64));
  });

  test("that have expired are listed", async () => {
    const home = await openHome();
    const { environment } = await furnish(home, [entry("crm"), entry("old", { expiresAt: "2020-01-01T00:00:00Z" })]);
    const { ok, of } = await examine(home, environment);
    expect(ok).toBe(true);
    expect(of("gateway keys")).toMatchObject({
      status: "warn",
      found: expect.stringContaining("The keys of old have expired."),
    });
  });

  test.each<[string, unknown, number, RegExp]>([
    ["others can read", [entry("crm")], 0o644, /chmod 600/],
    ["is not right", [{ name: "crm" }], 0o600, /needs a sha256 or a subject/],
    ["stands for no token", [entry("crm", { tokenVariable: "NOT_SET" })], 0o600, /NOT_SET holds no access token/],
  ])("in a file that %s are reported", async (_, entries, mode, message) => {
    const home = await openHome();
    const { environment } = await furnish(home, entries, mode);
    const { ok, of } = await examine(home, environment);
    expect(ok).toBe(false);
    expect(of("gateway keys")).toMatchObject({
      status: "fail",
      found: expect.stringMatching(message),
      fix: expect.any(String),
    });
    expect(of("tokens of keys")).toBeUndefined();
  });

  test("in an empty file give nobody access", async () => {
    const home = await openHome();
    const { environment } = await furnish(home, []);
    expect((await examine(home, environment)).of("gateway keys")).toMatchObject({ status: "warn" });
  });

  test("are not mentioned where none are configured", async () => {
    const home = await openHome();
    const { of } = await examine(home, {});
    expect([of("gateway keys"), of("tokens of keys"), of("OAuth issuer")]).toEqual([undefined, undefined, undefined]);
  });
});

describe("the OAuth issuer", () => {
  async function openSetup() {
    const home = await openHome();
    const issuer = await openIssuer(new TestClock(), "http://localhost:3000/mcp");
    const { token } = await furnish(home, []);
    const environment = {
      PROGRAMME_OAUTH_ISSUER: issuer.address,
      PROGRAMME_PUBLIC_URL: "http://localhost:3000",
      PROGRAMME_TOKEN: token,
    };
    return { home, issuer, environment };
  }

  test("is checked for its metadata and keys", async () => {
    const { home, issuer, environment } = await openSetup();
    const { ok, of } = await examine(home, environment);
    expect(ok).toBe(true);
    expect(of("OAuth issuer")?.found).toBe(`${issuer.address} publishes 1 key at ${issuer.address}/jwks.`);
    expect(issuer.requestedPaths).toEqual(["/.well-known/oauth-authorization-server", "/jwks"]);
  });

  test.each<[string, (issuer: Awaited<ReturnType<typeof openIssuer>>) => void, RegExp]>([
    ["is out of order", (issuer) => (issuer.fault = 503), /answered 503/],
    ["is another one", (issuer) => (issuer.metadata = { issuer: "https://other.example" }), /https:\/\/other\.example/],
    ["publishes no keys", (issuer) => (issuer.keyText = '{"keys":[]}'), /publishes no keys/],
    ["publishes something else", (issuer) => (issuer.keyText = "<html>"), /cannot be fetched/],
  ])("that %s is reported", async (_, spoil, message) => {
    const { home, issuer, environment } = await openSetup();
    spoil(issuer);
    const { ok, of } = await examine(home, environment);
    expect(ok).toBe(false);
    expect(of("OAuth issuer")).toMatchObject({
      status: "fail",
      found: expect.stringMatching(message),
      fix: expect.any(String),
    });
  });
});
