import { setTimeout as wait } from "node:timers/promises";
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ClientCredentialsProvider as FirstMajorProvider } from "@modelcontextprotocol/sdk/client/auth-extensions.js";
import { Client as FirstMajorClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstMajorTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { scopes, sensitiveScope } from "../../src/contract/access/scopes.ts";
import { createRandomToken } from "../../src/lib/crypto/crypto.ts";
import { browsers } from "../resources/resource-clients.ts";
import { clientsOverHttp, readConfirmation, readError, type ToolResult } from "../support/clients/clients.ts";
import { send } from "../support/clients/raw-http.ts";
import {
  type Behind,
  callTool,
  listTools,
  openSession,
  postMcp,
  readCalled,
  readMessage,
  toolNames,
} from "../support/servers/gateway.ts";
import { openGuardedServer, openShared, readChallenge } from "../support/servers/guarded-server.ts";
import type { TestIssuer } from "../support/servers/issuer.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";

const ordinary = scopes.filter((scope) => scope !== sensitiveScope);

describe("the protected resource metadata", () => {
  test("is served as RFC 9728 requires, at the server's own path and at the root", async () => {
    const { server, issuer } = await openGuardedServer();
    for (const path of ["", "/mcp"]) {
      const answer = await send(`${server.origin}/.well-known/oauth-protected-resource${path}`, {});
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(answer.body).toEqual({
        resource: `${server.origin}/mcp`,
        authorization_servers: [issuer.address],
        scopes_supported: ordinary,
        bearer_methods_supported: ["header"],
        resource_name: "Programme",
      });
    }
    const elsewhere = ["/.well-known/oauth-protected-resource/other", "/.well-known/oauth-authorization-server"];
    for (const path of elsewhere) expect((await send(server.origin + path, {})).status, path).toBe(404);
  });

  test("lists only scopes that the offered tools need", async () => {
    const { server } = await openGuardedServer("embedded", { PROGRAMME_TOOLS: "list_programs,list_rounds" });
    const { body } = await send(`${server.origin}/.well-known/oauth-protected-resource`, {});
    expect(body.scopes_supported).toEqual(["programs:read", "rounds:read"]);
    expect(readChallenge(await postMcp(server, undefined, listTools))).toEqual({
      scope: "programs:read rounds:read",
      resource_metadata: `${server.origin}/.well-known/oauth-protected-resource/mcp`,
    });
  });

  test("names scopes with the issuer's prefix, as challenges do, and tokens may name them with or without it", async () => {
    const prefix = "api://calls/";
    const settings = { PROGRAMME_TOOLS: "list_programs,list_rounds", PROGRAMME_OAUTH_SCOPE_PREFIX: prefix };
    const { server, issuer, tokenFile, admit } = await openGuardedServer("embedded", settings);
    await admit({ name: "anna", subject: "anna", tokenFile, scopes: [...ordinary] });
    const { body } = await send(`${server.origin}/.well-known/oauth-protected-resource`, {});
    expect(body.scopes_supported).toEqual(["api://calls/programs:read", "api://calls/rounds:read"]);
    const unknown = readChallenge(await postMcp(server, undefined, listTools));
    expect(unknown).toMatchObject({ scope: "api://calls/programs:read api://calls/rounds:read" });
    for (const scope of ["programs:read", "api://calls/programs:read other:read"]) {
      const token = await issuer.token({ scope });
      expect(await toolNames(server, token)).toContain("list_programs");
      const lacking = readChallenge(await postMcp(server, token, callTool("list_rounds", { programId: "prg_1" })));
      expect(lacking).toMatchObject({ error: "insufficient_scope", scope: "api://calls/rounds:read" });
    }
    const stranger = await issuer.token({ scope: "api://other/programs:read" });
    expect(await toolNames(server, stranger)).not.toContain("list_programs");
  });

  test("does not exist at a public address without encryption, and the challenge then names none", async () => {
    const { server, close } = await openTestServer({ PROGRAMME_PUBLIC_URL: "http://calls.example.org" });
    onTestFinished(close);
    expect((await send(`${server.origin}/.well-known/oauth-protected-resource`, {})).status).toBe(404);
    const answer = await postMcp(server, undefined, listTools);
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  test("includes the path of the public URL behind a proxy", async () => {
    const { server, close } = await openTestServer({
      PROGRAMME_PUBLIC_URL: "https://calls.example.org/agents",
      PROGRAMME_OAUTH_ISSUER: "https://login.example.org/",
      PROGRAMME_TOKEN: createRandomToken(),
    });
    onTestFinished(close);
    const path = "/.well-known/oauth-protected-resource/agents/mcp";
    const { body } = await send(`${server.origin}${path}`, {});
    expect(body).toMatchObject({
      resource: "https://calls.example.org/agents/mcp",
      authorization_servers: ["https://login.example.org/"],
    });
    const refused = await postMcp(server, undefined, listTools);
    expect(readChallenge(refused)["resource_metadata"]).toBe(`https://calls.example.org${path}`);
  });
});

describe.each<Behind>(["embedded", "remote"])("an access token of the issuer, with the %s service", (behind) => {
  test.each(clientsOverHttp)("allows a client of %s what its scopes allow", async (_, connect) => {
    const { server, issuer } = await openGuardedServer(behind);
    const program = await server.seed.program();
    const client = await connect(server, await issuer.token({ scope: "openid programs:read feedback:write profile" }));
    const listed = (await client.list()).map(({ name }) => name);
    expect(listed.slice(0, 3)).toEqual(["get_program", "list_programs", "release_feedback"]);
    expect(listed).not.toContain("list_rounds");
    expect((await client.call("list_programs", {})).structuredContent?.data).toEqual([program]);
  });

  test("is limited by its subject's entry and uses that entry's product token", async () => {
    const { server, issuer, tokenFile, admit, keep } = await openGuardedServer(behind);
    const other = await server.other();
    const [mine, theirs] = [await server.seed.program(), await other.seed.program()];
    await admit(
      { name: "anna", subject: "anna", tokenFile, scopes: ["programs:read", "rounds:read"] },
      { name: "otto", subject: "otto", tokenFile: await keep(await other.token()) },
    );
    const wide = { scope: ordinary.join(" ") };
    const [anna, otto] = [await issuer.token(wide), await issuer.token({ ...wide, sub: "otto" })];
    expect((await toolNames(server, anna)).slice(0, 3)).toEqual(["get_program", "list_programs", "list_rounds"]);
    expect(await toolNames(server, anna)).not.toContain("list_submissions");
    expect((await readCalled(server, anna, "list_programs", {})).structuredContent?.data).toEqual([mine]);
    expect((await readCalled(server, otto, "list_programs", {})).structuredContent?.data).toEqual([theirs]);
    const beyond = readError(await readCalled(server, anna, "list_submissions", {}));
    expect(beyond).toMatchObject({ code: "insufficient_scope", details: { requiredScopes: ["submissions:read"] } });
  });

  test("with too few scopes gets one challenge for all scopes that the call needs", async () => {
    const { server, issuer, tokenFile, admit } = await openGuardedServer(behind);
    await admit({ name: "anna", subject: "anna", tokenFile, scopes: [...ordinary] });
    const { programId } = await server.seed.program();
    const token = await issuer.token({ scope: "rounds:read" });
    const request = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });
    const metadata = `${server.origin}/.well-known/oauth-protected-resource/mcp`;
    for (const [message, scope] of [
      [callTool("list_programs", {}), "programs:read"],
      [callTool("get_reviewer", { reviewerId: "x", includePersonFieldIds: "y" }), "reviewers:read persons:read"],
      [callTool("get_reviewer", { reviewerId: "x", includePersonFieldIds: null }), "reviewers:read"],
      [request("resources/read", { uri: `programme://programs/${programId}` }), "programs:read"],
      [request("prompts/get", { name: "round_progress", arguments: {} }), "assignments:read"],
    ] as const) {
      const answer = await postMcp(server, token, message);
      expect(answer.status, JSON.stringify(message)).toBe(403);
      expect(readChallenge(answer)).toEqual({ error: "insufficient_scope", scope, resource_metadata: metadata });
    }
    // The agent cannot get this scope with any token of the subject, so it is reported as missing.
    await admit({ name: "anna", subject: "anna", tokenFile, scopes: ["rounds:read"] });
    const refusal = await postMcp(server, token, callTool("list_programs", {}));
    expect([refusal.status, readError(readMessage(refusal).result).code]).toEqual([200, "insufficient_scope"]);
  });
});

test("a batch needs the scopes of all its calls", async () => {
  const { server, issuer } = await openGuardedServer("embedded");
  const token = await issuer.token({ scope: "programs:read" });
  const by = (...tools: string[]) =>
    postMcp(server, token, callTool("run_batch", { calls: tools.map((tool) => ({ tool })) }));
  expect((await by("list_programs", "list_programs")).status).toBe(200);
  const refused = await by("list_programs", "list_reviewers");
  expect([refused.status, readChallenge(refused)["scope"]]).toEqual([403, "reviewers:read"]);
});

test("a call through call_tool needs the scopes of the tool that it calls", async () => {
  const { server, issuer } = await openGuardedServer("embedded", { PROGRAMME_TOOL_MODE: "search" });
  const token = await issuer.token({ scope: "programs:read" });
  const by = (name: string) => postMcp(server, token, callTool("call_tool", { name, arguments: {} }));
  expect((await by("list_programs")).status).toBe(200);
  const refused = await by("list_reviewers");
  expect([refused.status, readChallenge(refused)["scope"]]).toEqual([403, "reviewers:read"]);
  expect((await postMcp(server, token, callTool("find_tools", { words: "reviewers" }))).status).toBe(200);
});

describe("subjects", () => {
  test("without an entry are refused without a challenge if another subject has an entry", async () => {
    const { server, issuer, log } = await openGuardedServer("embedded", { PROGRAMME_TOKEN: createRandomToken() });
    const answer = await postMcp(server, await issuer.token({ sub: "mallory@example.org" }), listTools);
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([403, null]);
    expect(answer.body.error.data.code).toBe("gateway_not_admitted");
    expect(log.join("\n")).not.toContain("mallory");
  });

  test("all use PROGRAMME_TOKEN with their tokens' scopes if no subject has an entry", async () => {
    const { server, issuer } = await openShared();
    const program = await server.seed.program();
    for (const sub of ["anna", "otto"]) {
      const token = await issuer.token({ sub });
      expect((await readCalled(server, token, "list_programs", {})).structuredContent?.data).toEqual([program]);
      expect((await postMcp(server, token, callTool("list_rounds", { programId: program.programId }))).status).toBe(
        403,
      );
    }
  });

  test("that share a product token are different callers", async () => {
    const { server, issuer, tokenFile, admit } = await openGuardedServer("embedded", { PROGRAMME_CONFIRM: "ask" });
    await admit(...["anna", "otto"].map((name) => ({ name, subject: name, tokenFile })));
    const scope = ordinary.join(" ");
    const [anna, otto, otherClient] = [
      await issuer.token({ scope }),
      await issuer.token({ scope, sub: "otto" }),
      await issuer.token({ scope, client_id: "another" }),
    ];
    const { submissionId, version } = await server.seed.submission({ state: "IN_REVIEW" });
    const args = { submissionId, version, reason: "Out of scope" };
    const { token: confirmation } = readConfirmation(await readCalled(server, anna, "eliminate_submission", args));
    for (const foreign of [otto, otherClient]) {
      const refused = await readCalled(server, foreign, "eliminate_submission", { ...args, confirmation });
      expect(readError(refused).code).toBe("confirmation_invalid");
    }
    const session = await openSession(server, anna);
    expect((await postMcp(server, otto, listTools, session)).status).toBe(404);

    // The same caller continues its session with a new token.
    server.clock.advance(1_000);
    const renewed = await issuer.token({ scope });
    expect((await postMcp(server, renewed, listTools, session)).status).toBe(200);
    const confirmed = await readCalled(server, renewed, "eliminate_submission", { ...args, confirmation });
    expect(confirmed.structuredContent?.data).toMatchObject({ state: "ELIMINATED" });
  });
});

describe("a session", () => {
  test("runs each request with the token of that request", async () => {
    const { server, issuer } = await openGuardedServer();
    const { programId } = await server.seed.program();
    const narrow = await issuer.token({ scope: "programs:read" }, { lastsSeconds: 60 });
    const session = await openSession(server, narrow);
    const wide = await issuer.token({ scope: "programs:read rounds:read" }, { lastsSeconds: 3_600 });
    const listed = async (token: string) => {
      const { result } = readMessage(await postMcp(server, token, listTools, session));
      return result.tools.map(({ name }: { name: string }) => name);
    };
    const [before, after, again] = [await listed(narrow), await listed(wide), await listed(narrow)];
    expect([before.includes("list_rounds"), after.includes("list_rounds")]).toEqual([false, true]);
    expect(again).toEqual(before);
    server.clock.advance(120_000);
    expect((await postMcp(server, narrow, listTools, session)).status).toBe(401);
    const call = await postMcp(server, wide, callTool("list_rounds", { programId }), session);
    expect(readMessage(call).result.isError).toBeFalsy();
    const read = { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: "programme://programs" } };
    expect(readMessage(await postMcp(server, wide, read, session)).result.contents).toHaveLength(1);
  });
});

test("a stream ends when the token that opened it expires", async () => {
  const { server, issuer } = await openGuardedServer();
  const { programId } = await server.seed.program();
  const token = await issuer.token({ scope: "programs:read" }, { lastsSeconds: 60 });
  const browser = await (browsers["2026-07-28 over HTTP"] as (typeof browsers)[string])(server, token);
  const uri = `programme://programs/${programId}`;
  expect(await browser.follow(uri)).toEqual([uri]);
  const staff = await server.as("REST");
  await staff.update_program({ programId, version: 0, name: "First" });
  await waitFor(() => expect(browser.notifications.updated).toEqual([uri]));
  server.clock.advance(120_000);
  await wait(1_500);
  await staff.update_program({ programId, version: 1, name: "Second" });
  await wait(1_000);
  expect(browser.notifications.updated).toEqual([uri]);
});

describe("clients that know only the address of the server", () => {
  type Connect = (
    server: TestServer,
    issuer: TestIssuer,
  ) => Promise<{
    call(name: string, args: Record<string, unknown>): Promise<ToolResult>;
  }>;

  const info = { name: "test", version: "1.0.0" };
  const connects: Record<string, Connect> = {
    "2026-07-28": (server, issuer) => secondMajor(server, issuer, { pin: "2026-07-28" }),
    "either revision": (server, issuer) => secondMajor(server, issuer, "auto"),
    "2025-era": (server, issuer) => secondMajor(server, issuer, "legacy"),
    // Ignores the requested scopes and asks for those of its configuration.
    async "first major"({ origin }, issuer) {
      const scope = ordinary.join(" ");
      const authProvider = new FirstMajorProvider({ ...issuer.client, scope, expectedIssuer: issuer.address });
      const transport = new FirstMajorTransport(new URL(`${origin}/mcp`), { authProvider });
      const client = new FirstMajorClient(info);
      await client.connect(transport as Parameters<typeof client.connect>[0]);
      onTestFinished(() => client.close());
      return { call: (name, args) => client.callTool({ name, arguments: args }) as unknown as Promise<ToolResult> };
    },
  };

  async function secondMajor({ origin }: TestServer, issuer: TestIssuer, mode: "auto" | "legacy" | { pin: string }) {
    const authProvider = new ClientCredentialsProvider({ ...issuer.client, expectedIssuer: issuer.address });
    const client = new Client(info, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { authProvider }));
    onTestFinished(() => client.close());
    return {
      call: (name: string, args: Record<string, unknown>) =>
        client.callTool({ name, arguments: args }) as unknown as Promise<ToolResult>,
    };
  }

  test.each(
    Object.entries(connects),
  )("%s: find the issuer, get a token, and come back with more scopes", async (_, connect) => {
    const { server, issuer } = await openGuardedServer();
    const { programId } = await server.seed.program();
    issuer.consent = ["programs:read"];
    const client = await connect(server, issuer);
    expect(issuer.requests).toEqual([{ scope: ordinary.join(" "), resource: `${server.origin}/mcp` }]);
    expect((await client.call("list_programs", {})).isError).toBeFalsy();
    issuer.consent = ["programs:read", "rounds:read"];
    expect((await client.call("list_rounds", { programId })).isError).toBeFalsy();
    expect(issuer.requests).toHaveLength(2);
    expect(issuer.requests[1]?.scope).toContain("rounds:read");
  });

  test("a human who grants no further scopes is not asked again and again", async () => {
    const { server, issuer } = await openGuardedServer();
    issuer.consent = ["programs:read"];
    const client = await (connects["2026-07-28"] as Connect)(server, issuer);
    await expect(client.call("list_reviewers", {})).rejects.toThrow(/403|insufficient_scope|[Ff]orbidden/);
    expect(issuer.requests.length).toBeLessThan(6);
  });
});

test("neither access tokens nor product tokens appear in an answer or the log", async () => {
  const { server, issuer, log, product } = await openGuardedServer();
  const tokens = [
    await issuer.token(),
    await issuer.token({ scope: ordinary.join(" ") }),
    await issuer.token({ aud: "x" }),
    await issuer.token({ sub: "otto" }),
  ];
  const texts: string[] = [];
  for (const token of tokens) {
    for (const message of [
      listTools,
      callTool("list_programs", {}),
      callTool("list_rounds", {}),
      callTool("get_connection", {}),
    ]) {
      const { text, headers } = await postMcp(server, token, message);
      texts.push(text, JSON.stringify([...headers]));
    }
  }
  expect(texts.join("\n")).toMatch(/"name":"anna"/);
  for (const secret of [
    product,
    product.slice(0, 12),
    ...tokens,
    ...tokens.map((token) => token.split(".")[2] ?? ""),
  ]) {
    expect(texts.join("\n")).not.toContain(secret);
    expect(log.join("\n")).not.toContain(secret);
  }
});

describe("invalid OAuth settings prevent the start", () => {
  const issuer = { PROGRAMME_OAUTH_ISSUER: "https://login.example.org" };
  const whole = { ...issuer, PROGRAMME_PUBLIC_URL: "https://calls.example.org", PROGRAMME_TOKEN: "f".repeat(64) };

  test.each<[Record<string, string>, RegExp]>([
    [{ PROGRAMME_OAUTH_AUDIENCE: "x" }, /PROGRAMME_OAUTH_ISSUER is needed/],
    [{ PROGRAMME_OAUTH_JWKS_URI: "https://login.example.org/jwks" }, /PROGRAMME_OAUTH_ISSUER is needed/],
    [{ PROGRAMME_OAUTH_SCOPE_PREFIX: "api://x/" }, /PROGRAMME_OAUTH_ISSUER is needed/],
    [{ ...whole, PROGRAMME_OAUTH_SCOPE_PREFIX: 'api://"x/' }, /PROGRAMME_OAUTH_SCOPE_PREFIX must be text without/],
    [{ ...whole, PROGRAMME_PUBLIC_URL: "" }, /PROGRAMME_PUBLIC_URL is needed/],
    [{ ...whole, PROGRAMME_PUBLIC_URL: "http://calls.example.org" }, /PROGRAMME_PUBLIC_URL is needed/],
    [{ ...whole, PROGRAMME_TOKEN: "" }, /needs PROGRAMME_TOKEN or PROGRAMME_GATEWAY_KEYS/],
    [{ ...whole, PROGRAMME_OAUTH_ISSUER: "http://login.example.org" }, /PROGRAMME_OAUTH_ISSUER must be/],
    [{ ...whole, PROGRAMME_OAUTH_ISSUER: "https://a:b@login.example.org" }, /PROGRAMME_OAUTH_ISSUER must be/],
    [{ ...whole, PROGRAMME_OAUTH_JWKS_URI: "http://login.example.org/jwks" }, /PROGRAMME_OAUTH_JWKS_URI must be/],
  ])("%j", (environment, message) => {
    expect(() => loadConfig(environment)).toThrow(message);
  });

  test("the issuer is compared exactly, and the audience is the address of MCP", () => {
    const { oauth } = loadConfig({ ...whole, PROGRAMME_OAUTH_ISSUER: "https://login.example.org/" });
    const resource = "https://calls.example.org/mcp";
    expect(oauth).toMatchObject({ issuer: "https://login.example.org/", resource, audience: resource });
    expect(loadConfig({}).oauth).toBeUndefined();
  });
});
