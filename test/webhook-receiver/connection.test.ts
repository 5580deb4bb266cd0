import { describe, expect, onTestFinished, test } from "vitest";
import { type Scope, scopes, sensitiveScope } from "../../src/contract/access/scopes.ts";
import { callNames, operationNames, operations } from "../../src/contract/index.ts";
import { clients, readError, type ToolClient, type ToolResult } from "../support/clients/clients.ts";
import { openGateway } from "../support/servers/gateway.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";
import { createEvent, deliver } from "./event-sender.ts";
import { openRemoteProgram } from "./remote-program.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
type Data = any;

async function open(environment: Record<string, string> = {}): Promise<TestServer> {
  const { server: testServer, close } = await openTestServer(environment);
  onTestFinished(close);
  return testServer;
}

const connect = clients["2026-07-28 over HTTP"] as (testServer: TestServer, token: string) => Promise<ToolClient>;

async function connectionOf(testServer: TestServer, token: string): Promise<Data> {
  return (await (await connect(testServer, token)).call("get_connection", {})).structuredContent?.data;
}

describe.each(Object.entries(clients))("a client of %s", (_, connectTo) => {
  test("gets its identity without its token, at no cost", async () => {
    const testServer = await open({ PROGRAMME_REQUESTS_PER_MINUTE: "3" });
    const token = await testServer.token(["programs:read", "submissions:read"]);
    const client = await connectTo(testServer, token);
    await client.list();
    const results: ToolResult[] = [];
    for (let count = 0; count < 5; count++) results.push(await client.call("get_connection", {}));
    const data: Data = results[4]?.structuredContent?.data;
    const [kept] = await testServer.app.store.listTokens();
    expect(data).toMatchObject({
      server: expect.stringMatching(/^programme-mcp \d/),
      upstream: "embedded",
      token: { tokenId: kept?.tokenId, name: "test", prefix: token.slice(0, 6), expiresAt: null },
      business: { businessId: testServer.businessId, name: testServer.businessId },
      scopes: ["programs:read", "submissions:read"],
      scopesAre: "granted",
      rate: { limit: 3, remaining: 3, windowSeconds: 60 },
      events: "embedded",
      privacy: "off",
      confirmation: { mode: "off", approvedTools: [] },
    });
    expect(data.fault).toBeUndefined();
    expect(JSON.stringify(results)).not.toContain(token);
    expect(JSON.parse(results[4]?.content[0]?.text ?? "{}")).toEqual(data);
  });
});

test("the reported rate limit is what the next calls get", async () => {
  const testServer = await open({ PROGRAMME_REQUESTS_PER_MINUTE: "3" });
  const token = await testServer.token();
  const client = await connect(testServer, token);
  const remaining: unknown[] = [];
  for (let count = 0; count < 4; count++) {
    await client.call("list_programs", {});
    remaining.push(((await client.call("get_connection", {})).structuredContent?.data as Data).rate);
  }
  expect(remaining).toEqual([
    { limit: 3, remaining: 2, windowSeconds: 60 },
    { limit: 3, remaining: 1, windowSeconds: 60 },
    { limit: 3, remaining: 0, windowSeconds: 60 },
    { limit: 3, remaining: 0, windowSeconds: 60, retryAfterSeconds: 60 },
  ]);
  testServer.clock.advance(61_000);
  expect((await connectionOf(testServer, token)).rate).toEqual({ limit: 3, remaining: 3, windowSeconds: 60 });
});

test("every tool is either listed or hidden with the reason", async () => {
  const testServer = await open({ PROGRAMME_TOOLSETS: "submissions,payments", PROGRAMME_READ_ONLY: "true" });
  const token = await testServer.token(["submissions:read", "submissions:write", "exports:read"]);
  const listed = (await (await connect(testServer, token)).list()).map(({ name }) => name);
  const { hiddenTools } = await connectionOf(testServer, token);
  const lacks = new Map<string, string>(
    hiddenTools.flatMap((group: { lacks: string; tools: string[] }) => group.tools.map((name) => [name, group.lacks])),
  );
  expect([...listed, ...lacks.keys()].toSorted()).toEqual([...callNames, "get_connection"].toSorted());
  expect(lacks.get("withdraw_submission")).toBe("--read-only (PROGRAMME_READ_ONLY)");
  expect(lacks.get("list_payments")).toBe("payments:read");
  expect(lacks.get("get_export")).toBe("--toolsets (PROGRAMME_TOOLSETS)");
  expect(lacks.get("create_person")).toBe("--read-only (PROGRAMME_READ_ONLY), persons:write");
  expect(lacks.get("list_events")).toBe("--toolsets (PROGRAMME_TOOLSETS)");
});

test("get_connection hides nothing from a token with all scopes, and all other tools from a token without scopes", async () => {
  const testServer = await open();
  expect((await connectionOf(testServer, await testServer.token())).hiddenTools).toEqual([]);
  const none = await testServer.token([]);
  expect((await (await connect(testServer, none)).list()).map(({ name }) => name)).toEqual(["get_connection"]);
  const { hiddenTools } = await connectionOf(testServer, none);
  const groups = new Map<string, string[]>(hiddenTools.map((group: Data) => [group.lacks, group.tools]));
  for (const name of operationNames) expect(groups.get(operations[name].scope), name).toContain(name);
  expect(
    groups.get(
      "applicants:read or submissions:read or supplements:read or payments:read or reviews:read or feedback:read or programs:read or audit:read",
    ),
  ).toEqual(["list_events"]);
});

test("get_connection shows the privacy and confirmation modes", async () => {
  const testServer = await open({
    PROGRAMME_PRIVACY: "redact",
    PROGRAMME_CONFIRM: "human",
    PROGRAMME_APPROVED_TOOLS: "release_feedback",
  });
  const { privacy, confirmation } = await connectionOf(testServer, await testServer.token());
  expect([privacy, confirmation]).toEqual(["redact", { mode: "human", approvedTools: ["release_feedback"] }]);
});

test("get_connection returns results in the configured form, and refuses arguments", async () => {
  const text = await open({ PROGRAMME_RESULTS: "text" });
  const client = await connect(text, await text.token());
  expect((await client.list()).at(-1)).toMatchObject({ name: "get_connection" });
  expect((await client.list()).at(-1)?.outputSchema).toBeUndefined();
  const result = await client.call("get_connection", {});
  expect(result.structuredContent).toBeUndefined();
  expect(JSON.parse(result.content[0]?.text ?? "{}").upstream).toBe("embedded");
  const structured = await open({ PROGRAMME_RESULTS: "structured" });
  const other = await (await connect(structured, await structured.token())).call("get_connection", {});
  expect(other.content[0]?.text).toBe("The result is in structuredContent.");
  const refused = readError(await client.call("get_connection", { verbose: true }));
  expect([refused.code, JSON.stringify(refused)]).toEqual(["validation_failed", expect.stringContaining("verbose")]);
});

test("search mode finds, describes and calls get_connection", async () => {
  const testServer = await open({ PROGRAMME_TOOL_MODE: "search" });
  const client = await connect(testServer, await testServer.token([]));
  const textOf = async (name: string, args: Record<string, unknown>) =>
    (await client.call(name, args)).content[0]?.text ?? "";
  expect(await textOf("find_tools", { words: "which scopes do I have, connection" })).toMatch(
    /^get_connection: Get your identity and permissions/,
  );
  expect(JSON.parse(await textOf("describe_tool", { name: "get_connection" }))).toMatchObject({
    name: "get_connection",
  });
  expect(JSON.parse(await textOf("call_tool", { name: "get_connection" })).scopes).toEqual([]);
  expect(JSON.parse(await textOf("get_connection", {})).scopes).toEqual([]);
});

describe("get_connection with a remote service", () => {
  test("shows the service, the organisation, and which scopes are assumed", async () => {
    const {
      server: testServer,
      acme,
      stranger,
      clock,
    } = await openRemoteProgram({
      granted: ["programs:read", "person-fields:read", "reviews:read"],
    });
    await acme.server.seed.personSchema();
    await deliver(testServer.origin, "acme", acme.secret, createEvent("review.submitted", clock.now()));
    const before = await connectionOf(testServer, acme.token);
    expect(before).toMatchObject({
      upstream: acme.server.origin,
      token: { prefix: acme.token.slice(0, 6) },
      business: { businessId: acme.server.businessId },
      scopesAre: "supposed",
      rate: { limit: 100_000, remaining: 99_999, windowSeconds: 60 },
      events: "webhook acme",
    });
    expect(before.scopes).toEqual(scopes.filter((scope) => scope !== sensitiveScope).toSorted());
    const client = await connect(testServer, acme.token);
    await client.call("list_events", {});
    const after = await connectionOf(testServer, acme.token);
    expect(after.scopes).not.toContain("submissions:read");
    expect(after.hiddenTools).toContainEqual({
      lacks: "submissions:read",
      tools: expect.arrayContaining(["list_submissions", "get_submission"]),
    });
    const other = await connectionOf(testServer, stranger.token);
    expect([other.business, other.events]).toEqual([null, null]);
    expect(JSON.stringify([before, after, other])).not.toMatch(new RegExp(`${acme.token}|${stranger.token}`));
  });

  test("says why the service does not answer, and refuses an unknown token", async () => {
    const {
      server: testServer,
      acme,
      cut,
    } = await openRemoteProgram({ environment: { PROGRAMME_TIMEOUT_SECONDS: "2" } });
    const unknown = await (await connect(testServer, "b".repeat(64))).call("get_connection", {});
    expect(readError(unknown).code).toBe("invalid_token");
    await cut();
    const data = await connectionOf(testServer, acme.token);
    expect(data.fault).toMatchObject({ code: expect.stringMatching(/^upstream_/), next: expect.any(String) });
    expect(data.business).toBeNull();
  });

  test("marks scopes that the operator names", async () => {
    const named: readonly Scope[] = ["programs:read", "programs:write"];
    const { server: testServer, acme } = await openRemoteProgram({ environment: { PROGRAMME_SCOPES: named.join() } });
    const data = await connectionOf(testServer, acme.token);
    expect([data.scopes, data.scopesAre]).toEqual([[...named], "configured"]);
  });
});

test.each([
  "embedded",
  "remote",
] as const)("callers of a gateway see nothing of the product token, %s", async (behind) => {
  const gateway = await openGateway(behind);
  const { key, entry } = await gateway.caller("crm-sync", { scopes: ["programs:read"] });
  await gateway.admit(entry);
  const data = await connectionOf(gateway.server, key);
  expect(data).toMatchObject({ token: { name: "crm-sync" }, scopes: ["programs:read"] });
  expect(data.token).toEqual({ name: "crm-sync" });
  expect(data.hiddenTools.flatMap(({ tools }: { tools: string[] }) => tools)).toContain("list_submissions");
});
