import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Scope } from "../../src/contract/access/scopes.ts";
import { openAs } from "../identity/browser-session.ts";
import { openSession } from "../replicas/raw-session.ts";
import { clients, readConfirmation, readError } from "../support/clients/clients.ts";
import { openGateway, postMcp } from "../support/servers/gateway.ts";
import { openTestServer } from "../support/servers/test-server.ts";

const confirmed = { action: "accept", content: { confirm: true } } as const;

/** A server that asks for confirmation, and counts how often a token is looked up in its store. */
async function openCountingServer() {
  const { server, close } = await openTestServer({ PROGRAMME_CONFIRM: "ask", PROGRAMME_PRIVACY: "pseudonymize" });
  onTestFinished(close);
  const { submissionId, version } = await server.seed.submission({ state: "IN_REVIEW" });
  const token = await server.token();
  const lookUp = vi.spyOn(server.app.store, "findToken");
  const { tokenId } = await server.app.pipeline.identify(token);
  return {
    server,
    token,
    submissionId,
    args: { submissionId, reason: "Out of scope", version },
    update: (scopes: Scope[]) => server.app.tokens.update(tokenId, { scopes }),
    revoke: () => server.app.store.revokeToken(tokenId, server.clock.now().toISOString()),
    /** Counts from now on. */
    startCount: () => lookUp.mockClear(),
    getCount: () => lookUp.mock.calls.length,
    getState: async () => (await server.app.store.reader(server.businessId).get("submissions", submissionId))?.state,
  };
}

describe("each HTTP request is authenticated once", () => {
  test.each([
    ["tools/call", { name: "get_connection", arguments: {} }],
    ["tools/call", { name: "list_submissions", arguments: { all: true } }],
    ["tools/list", {}],
    ["resources/list", {}],
    ["prompts/list", {}],
  ])("for %s %j", async (method, params) => {
    const { server, token, startCount, getCount } = await openCountingServer();
    startCount();
    const answer = await postMcp(server, token, { jsonrpc: "2.0", id: 1, method, params });
    expect(answer.text).toContain('"result":');
    expect(getCount()).toBe(1);
  });

  test("for a call with a gateway key", async () => {
    const { server, caller, admit } = await openGateway("embedded");
    const { key, entry } = await caller("assistant");
    await admit(entry);
    const lookUp = vi.spyOn(server.app.store, "findToken");
    const params = { name: "list_programs", arguments: {} };
    const answer = await postMcp(server, key, { jsonrpc: "2.0", id: 1, method: "tools/call", params });
    expect(answer.body.result.isError).not.toBe(true);
    expect(lookUp).toHaveBeenCalledTimes(1);
  });

  test("for a call that is confirmed by calling again", async () => {
    const { server, token, args, startCount, getCount, getState } = await openCountingServer();
    const client = await (clients["2026-07-28 over HTTP"] as (typeof clients)[string])(server, token);
    startCount();
    const { token: confirmation } = readConfirmation(await client.call("eliminate_submission", args));
    await client.call("eliminate_submission", { ...args, confirmation });
    expect(await getState()).toBe("ELIMINATED");
    expect(getCount()).toBe(2);
  });

  test("for a call of revision 2026-07-28 that a person confirms", async () => {
    const { server, token, args, startCount, getCount, getState } = await openCountingServer();
    const connect = clients["2026-07-28 over HTTP"] as (typeof clients)[string];
    const client = await connect(server, token, () => confirmed);
    startCount();
    await client.call("eliminate_submission", args);
    expect(await getState()).toBe("ELIMINATED");
    expect(getCount()).toBe(2);
  });

  test("for a call in a session that a person confirms", async () => {
    const { server, token, args, startCount, getCount, getState } = await openCountingServer();
    const session = await openSession(server.origin, token);
    startCount();
    const { questionId, result } = await session.callAsked("eliminate_submission", args);
    expect(getCount()).toBe(1);
    expect(await session.answer(questionId, confirmed)).toBe(202);
    await result;
    expect(await getState()).toBe("ELIMINATED");
    expect(getCount()).toBe(2);
  });
});

test("each message over stdio is authenticated once, the answer of a person included", async () => {
  const { server, token, args, startCount, getCount, getState } = await openCountingServer();
  const connect = clients["2026-07-28 over stdio"] as (typeof clients)[string];
  const client = await connect(server, token, () => confirmed);
  startCount();
  await client.call("eliminate_submission", args);
  expect(await getState()).toBe("ELIMINATED");
  expect(getCount()).toBe(2);
});

test("a token that is revoked while a person is asked cannot confirm the call", async () => {
  const { server, token, args, revoke, getState } = await openCountingServer();
  const session = await openSession(server.origin, token);
  const { questionId } = await session.callAsked("eliminate_submission", args);
  await revoke();
  expect(await session.answer(questionId, confirmed)).toBe(401);
  expect(await session.listTools()).toBe(401);
  expect(await getState()).toBe("IN_REVIEW");
  expect(await server.outbox()).toEqual([]);
});

test.each([
  "eliminate_submission",
  "run_batch",
])("%s is refused if its token loses the scope while a person is asked", async (tool) => {
  const { server, token, args, update, getState } = await openCountingServer();
  const session = await openSession(server.origin, token);
  const batch = { calls: [{ tool: "eliminate_submission", arguments: args }] };
  const { questionId, result } = await session.callAsked(tool, tool === "run_batch" ? batch : args);
  await update(["submissions:read"]);
  expect(await session.answer(questionId, confirmed)).toBe(202);
  expect(JSON.stringify(await result)).toContain("insufficient_scope");
  expect(await getState()).toBe("IN_REVIEW");
  expect(await server.outbox()).toEqual([]);
});

test.each([
  ["is revoked", "invalid_token"],
  ["loses the scope", "insufficient_scope"],
])("a call that waits for a decision on a page is refused if its token %s", async (how, code) => {
  const { server, token, args, update, revoke, getState } = await openCountingServer();
  const person = await openAs(server);
  const agent = await (clients["2026-07-28 over HTTP"] as (typeof clients)[string])(server, token);
  let deciding: Promise<unknown> | undefined;
  const decide = async (url: string) => {
    await (how === "is revoked" ? revoke() : update(["submissions:read"]));
    await person.submit(new URL(url).pathname, { decision: "approve" });
  };
  const onprogress = ({ message = "" }: { message?: string | undefined }) => {
    const url = /https?:\/\/\S+/.exec(message)?.[0];
    if (url) deciding ??= decide(url);
  };
  const refused = await agent.call("eliminate_submission", { ...args, wait: true }, { onprogress });
  await deciding;
  expect(readError(refused).code).toBe(code);
  expect(await getState()).toBe("IN_REVIEW");
  expect(await server.outbox()).toEqual([]);
});
