import { exportSPKI, importJWK, SignJWT, UnsecuredJWT } from "jose";
import { afterEach, describe, expect, test, vi } from "vitest";
import { fetchTimeoutMs } from "../../src/transport/auth/oauth-token-verifier.ts";
import { listTools, postMcp, toolNames } from "../support/servers/gateway.ts";
import {
  expectRefused,
  openGuardedServer,
  openServerGuardedBy,
  readStatus,
} from "../support/servers/guarded-server.ts";
import { openIssuer, type TestIssuer } from "../support/servers/issuer.ts";
import { TestClock } from "../support/servers/test-server.ts";

afterEach(() => void vi.useRealTimers());

describe("a token is refused", () => {
  const claims: [string, Record<string, unknown>][] = [
    ["for another audience", { aud: "https://other.example.org/mcp" }],
    ["for the server, but not for MCP", { aud: "http://127.0.0.1" }],
    ["for nobody in particular", { aud: undefined }],
    ["of another issuer", { iss: "https://login.example.org" }],
    ["of no issuer", { iss: undefined }],
    ["without an end", { exp: undefined }],
    ["without a subject", { sub: undefined }],
    ["of an empty subject", { sub: "" }],
    ["that begins in an hour", { nbf: Date.parse("2026-11-20T10:00:00Z") / 1000 }],
    ["that counts only with a proof of its key", { cnf: { jkt: "x" } }],
  ];

  test.each(claims)("that is %s", async (_, given) => {
    const { server, issuer } = await openGuardedServer();
    expect(await readStatus(server, await issuer.token())).toBe(200);
    await expectRefused(server, await issuer.token(given));
  });

  test("that has expired, and one that expires while it is in use", async () => {
    const { server, issuer } = await openGuardedServer();
    await expectRefused(server, await issuer.token({}, { lastsSeconds: -60 }));
    const token = await issuer.token({}, { lastsSeconds: 30 });
    expect(await readStatus(server, token)).toBe(200);
    server.clock.advance(45_000);
    await expectRefused(server, token);
  });

  test.each([
    ["of another kind", { typ: "logout+jwt" }],
    ["of a kind yet unknown", { typ: "dpop+jwt" }],
    ["with a header that must be understood", { crit: ["exp"] }],
    ["of a key that the issuer does not have", { kid: "nobody" }],
  ])("that is %s", async (_, header) => {
    const { server, issuer } = await openGuardedServer();
    const signed = await issuer.token({}, { header }).catch(() => undefined);
    // The signing library refuses to create some of these tokens.
    const token = signed ?? withHeader(await issuer.token(), header);
    await expectRefused(server, token);
  });

  /** ID tokens of clients that use this server as client or audience. */
  const idTokens: [string, Record<string, unknown>, Record<string, unknown>?][] = [
    ["that names no scopes", { scope: undefined }],
    ["that names no scopes, without a type", { scope: undefined }, { typ: undefined }],
    ["with a nonce", { nonce: "n" }],
    ["with a hash of the access token beside it", { at_hash: "x" }],
    ["with a hash of the code that it was had for", { c_hash: "x" }],
    ["of Keycloak", { typ: "ID", azp: "test-client" }],
    ["of Cognito", { token_use: "id" }],
    ["that its header calls an access token", { token_use: "id" }, { typ: "at+jwt" }],
  ];

  test.each(idTokens)("that is an ID token %s", async (_, given, header = { typ: "JWT" }) => {
    const { server, issuer } = await openGuardedServer();
    await expectRefused(server, await issuer.token(given, { header }));
  });

  test("that is a refresh token", async () => {
    const { server, issuer } = await openGuardedServer();
    await expectRefused(server, await issuer.token({ typ: "Refresh" }, { header: { typ: "JWT" } }));
  });

  test("that is unsigned, signed with the public key as an HMAC secret, signed with another key, or altered", async () => {
    const { server, issuer } = await openGuardedServer();
    const good = await issuer.token();
    const payload = JSON.parse(Buffer.from(good.split(".")[1] ?? "", "base64url").toString());
    const { kid, publicJwk } = issuer.key;
    const publicKey = await importJWK(publicJwk, "ES256", { extractable: true });
    const asSecret = (secret: string) =>
      new SignJWT(payload)
        .setProtectedHeader({ alg: "HS256", kid, typ: "at+jwt" })
        .sign(new TextEncoder().encode(secret));
    const stranger = await openIssuer(server.clock, "x");
    const [head, , signature] = good.split(".");
    const other = Buffer.from(JSON.stringify({ ...payload, sub: "otto" })).toString("base64url");
    for (const token of [
      new UnsecuredJWT(payload).encode(),
      `${Buffer.from('{"alg":"none"}').toString("base64url")}.${good.split(".")[1]}.${signature}`,
      await asSecret(await exportSPKI(publicKey as Parameters<typeof exportSPKI>[0])),
      await asSecret(JSON.stringify(publicJwk)),
      await issuer.token({}, { key: { ...stranger.key, kid } }),
      `${head}.${other}.${signature}`,
      `${head}.${good.split(".")[1]}.`,
      `${head}.${good.split(".")[1]}`,
      "a.b.c",
      "..",
      "x".repeat(8_000),
    ]) {
      await expectRefused(server, token);
    }
    expect(await readStatus(server, good)).toBe(200);
  });

  test("that is a product token", async () => {
    const { server, product } = await openGuardedServer();
    await expectRefused(server, product);
  });
});

function withHeader(token: string, given: object): string {
  const [head = "", ...rest] = token.split(".");
  const header = { ...JSON.parse(Buffer.from(head, "base64url").toString()), ...given };
  return [Buffer.from(JSON.stringify(header)).toString("base64url"), ...rest].join(".");
}

describe("a token is accepted", () => {
  test.each<[string, Record<string, unknown>]>([
    ["one audience of several", { aud: ["https://other.example.org", "OWN"] }],
    ["scopes as a list", { scope: undefined, scp: ["programs:read"] }],
    ["scopes as others write them", { scope: undefined, scp: "programs:read" }],
    ["a client by another name", { client_id: undefined, azp: "test-client" }],
  ])("with %s", async (_, given) => {
    const { server, issuer } = await openGuardedServer();
    const aud = [given["aud"]].flat().map((each) => (each === "OWN" ? `${server.origin}/mcp` : each));
    const token = await issuer.token({ ...given, ...("aud" in given ? { aud: aud as string[] } : {}) });
    expect(await toolNames(server, token)).toContain("list_programs");
  });

  test.each(["RS256", "PS256", "ES384", "EdDSA"])("that is signed with %s, whatever its type", async (alg) => {
    const { server, issuer } = await openGuardedServer();
    await issuer.rotate({ alg });
    for (const typ of ["at+jwt", "JWT", undefined]) {
      expect(await readStatus(server, await issuer.token({}, { header: { typ } }))).toBe(200);
    }
  });

  /** Tokens of issuers that do not distinguish access tokens from others. */
  const accessTokens: [string, Record<string, unknown>, Record<string, unknown>?][] = [
    ["Auth0", { gty: "client-credentials", azp: "test-client", client_id: undefined }],
    ["Entra", { scope: undefined, scp: "programs:read", ver: "2.0", azp: "test-client", azpacr: "1" }],
    ["Okta", { scope: undefined, scp: ["programs:read"], cid: "test-client" }, { typ: undefined }],
    ["Keycloak", { typ: "Bearer", azp: "test-client", nonce: "older versions have one" }],
    ["Keycloak without a scope", { typ: "Bearer", azp: "test-client", scope: undefined }],
    ["Cognito", { token_use: "access" }, { typ: undefined }],
    ["an issuer that keeps to RFC 9068, without a scope", { scope: undefined }, { typ: "at+jwt" }],
  ];

  test.each(accessTokens)("of %s", async (_, given, header = { typ: "JWT" }) => {
    const { server, issuer } = await openGuardedServer();
    expect(await readStatus(server, await issuer.token(given, { header }))).toBe(200);
  });

  test("for the audience and the JWKS address that the operator configured", async () => {
    const issuer = await openIssuer(new TestClock(), "api://programme");
    const { server } = await openServerGuardedBy(issuer, {
      PROGRAMME_OAUTH_AUDIENCE: "api://programme",
      PROGRAMME_OAUTH_JWKS_URI: `${issuer.address}/jwks`,
    });
    expect(await readStatus(server, await issuer.token())).toBe(200);
    expect(issuer.requestedPaths).toEqual(["/jwks"]);
    await expectRefused(server, await issuer.token({ aud: `${server.origin}/mcp` }));
  });
});

describe("the issuer's keys", () => {
  test("are fetched once for concurrent tokens", async () => {
    const { server, issuer } = await openGuardedServer();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => issuer.token()));
    const statuses = await Promise.all([...tokens, ...tokens].map((token) => readStatus(server, token)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(issuer.requestedPaths).toEqual(["/.well-known/oauth-authorization-server", "/jwks"]);
  });

  test("are rotated: a new key is accepted, a withdrawn key is refused, unknown key ids fetch nothing", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { server, issuer } = await openGuardedServer();
    const old = await issuer.token({}, { lastsSeconds: 86_400 });
    expect(await readStatus(server, old)).toBe(200);
    await issuer.rotate();
    vi.setSystemTime(Date.now() + 31_000);
    expect(await readStatus(server, await issuer.token())).toBe(200);
    expect(await readStatus(server, old)).toBe(200);
    const requestedPaths = issuer.requestedPaths.length;
    for (let count = 0; count < 20; count++) {
      await expectRefused(server, await issuer.token({}, { header: { kid: `stranger-${count}` } }));
    }
    expect(issuer.requestedPaths.length).toBe(requestedPaths);

    await issuer.rotate({ withdraw: true });
    vi.setSystemTime(Date.now() + 11 * 60_000);
    server.clock.advance(61_000);
    expect(await readStatus(server, await issuer.token())).toBe(200);
    await expectRefused(server, old);
  });

  test.each<[string, (issuer: TestIssuer) => void]>([
    ["answers with a failure", (issuer) => (issuer.fault = 500)],
    ["leads elsewhere", (issuer) => (issuer.fault = 302)],
    ["says it is another", (issuer) => (issuer.metadata = { issuer: "https://login.example.org" })],
    ["says nothing of its keys", (issuer) => (issuer.metadata = { jwks_uri: undefined })],
    ["has something else than keys", (issuer) => (issuer.keyText = '{"keys":"none"}')],
    ["has keys half written", (issuer) => (issuer.keyText = '{"keys":[')],
    ["names keys in the clear", (issuer) => (issuer.metadata = { jwks_uri: "http://keys.example.org/jwks" })],
  ])("are unavailable while the issuer %s: callers get 503, and the issuer is not asked for each request", async (_, spoil) => {
    const { server, issuer } = await openGuardedServer();
    spoil(issuer);
    const token = await issuer.token();
    for (let count = 0; count < 10; count++) {
      const answer = await postMcp(server, token, listTools);
      expect([answer.status, answer.body.error.data.code]).toEqual([503, "unavailable"]);
      expect([answer.headers.get("www-authenticate"), answer.headers.get("retry-after")]).toEqual([null, "5"]);
    }
    expect(issuer.requestedPaths.length).toBeLessThanOrEqual(3);
  });

  test("are fetched again when the issuer is back, and a hanging issuer times out", async () => {
    const { server, issuer } = await openGuardedServer();
    // Whole milliseconds, because sums of fractions are inexact.
    const [{ timeout }, startedMs] = [AbortSignal, Math.ceil(performance.now())];
    const retryPolicy = vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => timeout(ms / 50));
    const now = vi.spyOn(performance, "now").mockReturnValue(startedMs);
    issuer.fault = "hang";
    const token = await issuer.token();
    expect(await readStatus(server, token)).toBe(503);
    expect(retryPolicy.mock.calls).toContainEqual([fetchTimeoutMs]);
    retryPolicy.mockRestore();
    issuer.fault = undefined;
    const requestedPaths = issuer.requestedPaths.length;
    now.mockReturnValue(startedMs + 4_999);
    expect([await readStatus(server, token), issuer.requestedPaths.length]).toEqual([503, requestedPaths]);
    now.mockReturnValue(startedMs + 5_000);
    expect(await readStatus(server, token)).toBe(200);
  });
});
