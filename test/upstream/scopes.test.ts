import { describe, expect, test } from "vitest";
import { type Scope, scopes } from "../../src/contract/access/scopes.ts";
import { operationNames, operations } from "../../src/contract/index.ts";
import { browsers, waitForLateNotifications } from "../resources/resource-clients.ts";
import { TestClock } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import { openAgent } from "./agent.ts";
import { status } from "./misbehaving-proxy.ts";
import { openRemoteSetup } from "./remote-setup.ts";

const minuteMs = 60_000;
const toolsOf = (...missing: Scope[]) => operationNames.filter((name) => !missing.includes(operations[name].scope));
const without = (...missing: Scope[]) => scopes.filter((scope) => !missing.includes(scope));

/** A program that is not told its tokens' scopes. */
const untold = { PROGRAMME_SCOPES: "" };

describe("scopes learnt from refusals", () => {
  test("hide the tools that need a refused scope for ten minutes, from this token only", async () => {
    const clock = new TestClock();
    const { server, app, agent, token } = await openRemoteSetup({ environment: untold, clock });
    const clerk = await openAgent(app, await server.token(without("programs:write", "reviewers:write")));
    expect(await clerk.tools()).toEqual(toolsOf());

    const { programId, version } = await server.seed.program();
    const { error } = await clerk.call("update_program", { programId, version, name: "New" });
    expect(error).toMatchObject({ code: "insufficient_scope", details: { requiredScopes: ["programs:write"] } });
    expect(error?.next).toContain("lacks programs:write. Ask your human to add this in the product's settings");
    expect(await clerk.tools()).toEqual(toolsOf("programs:write"));
    clock.advance(5 * minuteMs);
    await clerk.call("invite_reviewer", { email: "r@example.org" });
    expect(await clerk.tools()).toEqual(toolsOf("programs:write", "reviewers:write"));
    clock.advance(5 * minuteMs);
    expect(await clerk.tools()).toEqual(toolsOf("reviewers:write"));
    clock.advance(5 * minuteMs);
    expect(await clerk.tools()).toEqual(toolsOf());

    expect(await agent.tools()).toEqual(toolsOf());
    expect((await agent.call("update_program", { programId, version, name: "New" })).data.name).toBe("New");
    expect(token).not.toBe("");
  });

  test("show a hidden tool again once it works", async () => {
    const { proxy, server, agent } = await openRemoteSetup({ environment: untold, clock: new TestClock() });
    const { programId } = await server.seed.program();
    const refused = { success: false, error: { code: "insufficient_scope", message: "programs:read is needed" } };
    proxy.behave(() => status(403, { "content-type": "application/json" }, JSON.stringify(refused)));
    expect((await agent.call("get_program", { programId })).error?.code).toBe("insufficient_scope");
    expect(await agent.tools()).toEqual(toolsOf("programs:read"));
    proxy.behave(() => undefined);
    expect((await agent.call("get_program", { programId })).data.programId).toBe(programId);
    expect(await agent.tools()).toEqual(toolsOf());
  });

  test("keep sensitive data hidden until the operator names its scope", async () => {
    const { server, app, agent } = await openRemoteSetup({ environment: untold });
    const { personId } = await server.seed.person();
    const { data } = await agent.call("get_person", { personId });
    expect(data).not.toHaveProperty("primaryEmail");
    expect(data).not.toHaveProperty("contactDetails");
    const remote = await openRemoteSetup();
    const { personId: other } = await remote.server.seed.person();
    expect((await remote.agent.call("get_person", { personId: other })).data.primaryEmail).toBe("grace@example.org");
    expect(app).not.toBe(remote.app);
  });

  const wordings: [string, number, Record<string, string>, unknown, readonly Scope[]][] = [
    ["in details", 403, {}, { code: "FORBIDDEN", details: { requiredScope: "programs:write" } }, ["programs:write"]],
    ["in a challenge", 403, { "www-authenticate": 'Bearer scope="programs:write"' }, {}, ["programs:write"]],
    [
      "in its sentence",
      403,
      {},
      { code: "x", message: "You have a:read. You need programs:write" },
      ["programs:write"],
    ],
    ["beside those it has", 403, {}, { message: "has programs:read, needs programs:write" }, ["programs:write"]],
    ["without its name", 403, {}, { code: "MISSING_SCOPE" }, ["programs:write"]],
  ];
  test.each(wordings)("include a scope named %s", async (_, code, headers, error, missing) => {
    const { proxy, agent } = await openRemoteSetup({ environment: untold });
    proxy.behave(() => status(code, headers, JSON.stringify({ success: false, error })));
    const outcome = await agent.call("update_program", { programId: "prg_1", version: 0, name: "x" });
    expect(outcome.error).toMatchObject({ code: "insufficient_scope", details: { requiredScopes: missing } });
    expect(await agent.tools()).toEqual(toolsOf(...missing));
    expect(proxy.requests).toHaveLength(1);
  });

  test("are not learnt from a refusal that names none", async () => {
    const { proxy, agent } = await openRemoteSetup({ environment: untold });
    const error = { code: "TENANT_SUSPENDED", message: "The account is suspended" };
    proxy.behave(() => status(403, {}, JSON.stringify({ success: false, error })));
    const outcome = await agent.call("list_programs");
    expect(outcome.error?.code).toBe("upstream_refused");
    expect(outcome.error?.next).toContain("403 tenant_suspended: The account is suspended");
    expect(await agent.tools()).toEqual(toolsOf());
  });
});

test("tools beyond the scopes that the operator names are neither shown nor requested", async () => {
  const { proxy, server, agent } = await openRemoteSetup({
    environment: { PROGRAMME_SCOPES: "programs:read,applicants:read" },
  });
  expect((await agent.tools()).toSorted()).toEqual(["get_program", "list_applicants", "list_programs"]);
  await server.seed.program();
  expect((await agent.call("list_programs")).data).toHaveLength(1);
  const requestsBefore = proxy.requests.length;
  expect((await agent.call("list_persons")).error?.details).toEqual({ requiredScopes: ["persons:read"] });
  const expanded = await agent.call("list_applicants", { includePersonFieldIds: "fld_1" });
  expect(expanded.error).toMatchObject({ code: "insufficient_scope", details: { requiredScopes: ["persons:read"] } });
  expect(proxy.requests).toHaveLength(requestsBefore);
});

test.each(
  Object.entries(browsers),
)("%s is notified when its offered tools change, and of nothing that it may not see", async (_, connect) => {
  const { server, app } = await openRemoteSetup({ environment: untold });
  const { origin } = await app.listen();
  const clerk = await server.token(without("programs:write"));
  const [browser, other] = await Promise.all(
    [clerk, await server.token()].map((token) => connect({ ...server, app, origin }, token)),
  );
  const { programId, version } = await server.seed.program();
  expect(await browser?.follow(`programme://programs/${programId}`)).toEqual([]);
  await other?.follow();
  const args = { programId, version, name: "New" };
  await browser?.client.callTool({ name: "update_program", arguments: args });
  await waitFor(() => expect(browser?.notifications.lists).toContain("tools"));
  await waitForLateNotifications();
  expect(browser?.notifications).toEqual({ updated: [], lists: ["tools", "resources", "prompts"] });
  expect(other?.notifications).toEqual({ updated: [], lists: [] });
});

describe("a token that the service does not know", () => {
  test("is distinguished from one without the scope, and cached for half a minute", async () => {
    const clock = new TestClock();
    const { proxy, server, app, agent } = await openRemoteSetup({ clock });
    const stranger = await openAgent(app, "f".repeat(64));
    const { error } = await stranger.call("list_programs");
    expect(error).toMatchObject({ code: "invalid_token" });
    expect(error?.next).toContain("Ask your human for a new access token");
    for (let second = 0; second < 29; second += 1) {
      clock.advance(1_000);
      expect((await stranger.call("list_programs")).error?.code).toBe("invalid_token");
    }
    expect(proxy.requests).toHaveLength(1);
    expect((await agent.call("list_programs")).data).toEqual([]);
    clock.advance(1_000);
    await stranger.call("list_programs");
    expect(proxy.requests).toHaveLength(3);
    expect(server.origin).not.toBe(proxy.origin);
  });

  test("that is revoked stops working at once", async () => {
    const { server, token, agent } = await openRemoteSetup();
    expect((await agent.call("list_programs")).data).toEqual([]);
    const [{ tokenId } = { tokenId: "" }] = await server.app.store.listTokens();
    await server.app.store.revokeToken(tokenId, server.clock.now().toISOString());
    expect((await agent.call("list_programs")).error?.code).toBe("invalid_token");
    await expect(agent.tools()).rejects.toThrow(/token/);
    expect(token).toHaveLength(64);
  });

  test.each(["short", "x".repeat(64), `${"a".repeat(63)}\n`])("is not sent if it is malformed: %j", async (token) => {
    const { proxy, app } = await openRemoteSetup();
    await expect(app.upstream.identify(token)).rejects.toMatchObject({ code: "invalid_token" });
    const answer = await app.upstream.call({ operation: "list_programs", input: {}, token, requestId: "req_1" });
    expect(answer).toMatchObject({ ok: false, problem: { code: "invalid_token" } });
    expect(proxy.requests).toEqual([]);
  });
});
