import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/server";
import { describe, expect } from "vitest";
import { scopes } from "../../src/contract/access/scopes.ts";
import { callNames, operationNames, operations, workflowNames } from "../../src/contract/index.ts";
import { clients, clientsOverHttp, readError, type ToolClient, type ToolResult } from "../support/clients/clients.ts";
import { type RawAnswer, send } from "../support/clients/raw-http.ts";
import { listAudit } from "../support/data/state.ts";
import { openTestServer, type TestServer, tenantTest as test } from "../support/servers/test-server.ts";

/** One JSON-RPC request as 2025-era clients without a session send it. */
function post(
  server: TestServer,
  token: string | undefined,
  message: unknown,
  headers: Record<string, string> = {},
): Promise<RawAnswer> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const accept = "application/json, text/event-stream";
  const all = { "content-type": "application/json", accept, ...authorization, ...headers };
  const body = typeof message === "string" ? message : JSON.stringify(message);
  return send(`${server.origin}/mcp`, { method: "POST", headers: all }, body);
}

const listTools = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const callTool = (name: string, args: object, id = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

/** The message of an answer, which may come as an event. */
function messageOf({ text }: RawAnswer) {
  return JSON.parse(text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "null"));
}

const entries = Object.entries(clients);

describe.each(entries)("a client of %s", (_, connect) => {
  test("lists a tool for every operation, in a stable order", async ({ server }) => {
    const client = await connect(server, await server.token());
    const names = (await client.list()).map(({ name }) => name);
    expect(names.slice(0, 58)).toEqual(operationNames);
    expect(names.slice(58)).toEqual(["list_events", ...workflowNames, "run_batch", "get_connection"]);
  });

  test("lists only the tools that its scopes allow, and gets the reason when it calls another", async ({ server }) => {
    const client = await connect(server, await server.token(["programs:read", "feedback:write"]));
    const names = (await client.list()).map(({ name }) => name);
    expect(names.slice(0, 3).toSorted()).toEqual(["get_program", "list_programs", "release_feedback"]);
    expect(names.slice(3)).toEqual(["list_events", "search_records", "list_open_work", "run_batch", "get_connection"]);
    const refused = readError(await client.call("get_person", { personId: "per_1" }));
    expect(refused.code).toBe("insufficient_scope");
    expect(refused.next).toContain("persons:read");
  });

  test("gets data as structured content and as text", async ({ server }) => {
    const program = await server.seed.program();
    const client = await connect(server, await server.token());
    // Who knows a tool's output schema checks results against it.
    await client.list();
    const result = await client.call("get_program", { programId: program.programId });
    expect(result.isError).toBeFalsy();
    expect(result.structuredContent).toEqual({ data: program });
    expect(result.content[0]?.text).toContain(program.programId);
    expect((await client.call("list_programs", {})).structuredContent).toEqual({
      data: [program],
      page: { hasMore: false },
    });
  });

  test("gets a protocol error for a tool that does not exist", async ({ server }) => {
    const client = await connect(server, await server.token());
    for (const name of ["drop_everything", "", "__proto__", "constructor"]) {
      await expect(client.call(name, {}), name).rejects.toMatchObject({ code: -32602 });
    }
  });

  test("gets errors that say what is wrong and what to do next", async ({ server }) => {
    const { programId } = await server.seed.program({ lifecycleStatus: "draft" });
    const client = await connect(server, await server.token());
    const refusals: [ToolResult, string, string][] = [
      [await client.call("update_program", { programId, version: 7, name: "x" }), "version_conflict", "now 0"],
      [await client.call("get_program", { programId: "prg_none" }), "not_found", "list the records"],
      [await client.call("get_program", {}), "validation_failed", "details.issues"],
      [
        await client.call("update_program", { programId, version: 0, lifecycleStatus: "completed" }),
        "invalid_state_transition",
        "update_program with lifecycleStatus configured; then update_program with lifecycleStatus underway; then update_program with lifecycleStatus completed",
      ],
    ];
    for (const [result, code, next] of refusals) {
      expect(result).toMatchObject({ isError: true, content: [{ type: "text" }] });
      expect(result.structuredContent).toBeUndefined();
      const { error, ...others } = JSON.parse(result.content[0]?.text ?? "");
      expect(others).toEqual({});
      expect(error).toEqual({
        code,
        message: expect.any(String),
        next: expect.stringContaining(next),
        ...("details" in error ? { details: expect.any(Object) } : {}),
      });
    }
  });

  test("gets a refusal that names the path of an unknown argument", async ({ server }) => {
    const { programId } = await server.seed.program();
    const client = await connect(server, await server.token());
    const args = { programId, version: 0, branding: { pages: { landing: { surprise: "x" } } } };
    expect(readError(await client.call("update_program", args))).toMatchObject({
      code: "validation_failed",
      details: { issues: [{ path: "branding.pages.landing.surprise", code: "unrecognized_keys" }] },
    });
    expect(readError(await client.call("get_program", { programId, surprise: 1 }))).toMatchObject({
      details: { issues: [{ path: "surprise" }] },
    });
  });

  test("can call many tools concurrently", async ({ server }) => {
    const programs = [];
    for (let count = 0; count < 25; count++) programs.push(await server.seed.program({ name: `Call ${count}` }));
    const client = await connect(server, await server.token());
    const results = await Promise.all(programs.map(({ programId }) => client.call("get_program", { programId })));
    expect(results.map((result) => result.structuredContent?.data)).toEqual(programs);
  });

  test("gets the time to wait when it exceeds the rate limit", async () => {
    const { server, close } = await openTestServer({ PROGRAMME_REQUESTS_PER_MINUTE: "2" });
    const client = await connect(server, await server.token());
    const results = [
      await client.call("list_programs", {}),
      await client.call("list_programs", {}),
      await client.call("list_programs", {}),
    ];
    expect(results.map(({ isError = false }) => isError)).toEqual([false, false, true]);
    const { code, next } = readError(results[2] as ToolResult);
    expect([code, next]).toEqual(["rate_limited", expect.stringContaining("Wait 60 seconds")]);
    expect(await client.list()).toHaveLength(callNames.length + 2);
    await close();
  });
});

describe.each(clientsOverHttp)("a client of %s", (_, connect) => {
  test("needs a valid token for every request", async ({ server }) => {
    const token = await server.token();
    const client = await connect(server, token);
    await client.call("list_programs", {});
    const { tokenId } = await server.app.pipeline.identify(token);
    await server.app.store.revokeToken(tokenId, server.clock.now().toISOString());
    await expect(client.call("list_programs", {})).rejects.toThrow(/401|nauthorized|invalid/i);
    await expect(client.list()).rejects.toThrow(/401|nauthorized|invalid/i);
    await expect(connect(server, token)).rejects.toThrow();
  });

  test("shares nothing with the clients of other tokens", async ({ server, service }) => {
    const others = [server, await service.other(), await service.other()];
    const setups = await Promise.all(
      others.map(async (each) => ({
        client: await connect(each, await each.token()),
        program: await each.seed.program(),
      })),
    );
    const rounds = Array.from({ length: 15 }, () => setups).flat();
    const answers = await Promise.all(
      rounds.map(async ({ client, program }) => [await client.call("list_programs", {}), program] as const),
    );
    for (const [result, program] of answers) expect(result.structuredContent?.data).toEqual([program]);
  });
});

describe("over HTTP", () => {
  test("a request without a token is refused", async ({ server }) => {
    const answer = await post(server, undefined, listTools);
    const metadata = `resource_metadata="${server.origin}/.well-known/oauth-protected-resource/mcp"`;
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toMatch(new RegExp(`^Bearer scope="[^"]+", ${metadata}$`));
    expect(answer.body).toMatchObject({ jsonrpc: "2.0", error: { data: { code: "unauthorized" } } });
    for (const token of ["x", "0".repeat(64), "Z".repeat(64)]) {
      const refused = await post(server, token, listTools);
      expect(refused.status).toBe(401);
      expect(refused.headers.get("www-authenticate")).toMatch(
        /^Bearer error="invalid_token", scope="[^"]+", resource_/,
      );
    }
  });

  test("requests of different callers with the same JSON-RPC id get their own answers", async ({ server, service }) => {
    const other = await service.other();
    const setups = await Promise.all(
      [server, other].map(async (each) => ({ each, token: await each.token(), program: await each.seed.program() })),
    );
    const rounds = Array.from({ length: 20 }, () => setups).flat();
    const answers = await Promise.all(
      rounds.map(({ each, token }) => post(each, token, callTool("list_programs", {}, 7))),
    );
    for (const [index, answer] of answers.entries()) {
      const { id, result } = messageOf(answer);
      expect(id).toBe(7);
      expect(result.structuredContent.data).toEqual([rounds[index]?.program]);
    }
  });

  test("a session belongs to the token that opened it", async ({ server }) => {
    const token = await server.token();
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const opened = await post(server, token, { jsonrpc: "2.0", id: 1, method: "initialize", params });
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    expect(session["mcp-session-id"]).not.toBe("");
    expect((await post(server, token, listTools, session)).status).toBe(200);
    expect((await post(server, await server.token(), listTools, session)).status).toBe(404);
    expect((await post(server, undefined, listTools, session)).status).toBe(401);
  });

  test("a client gets a session by what it sends and the revision it names, not by whether it names its method", async ({
    server,
  }) => {
    const token = await server.token();
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params };
    const sessionOf = async (message: object, headers: Record<string, string>) =>
      (await post(server, token, message, headers)).headers.get("mcp-session-id");
    const named = { "mcp-method": "initialize" };
    for (const headers of [
      {},
      named,
      { ...named, "mcp-protocol-version": "2025-06-18" },
      { "mcp-method": "tools/list" },
    ]) {
      expect(await sessionOf(initialize, headers), JSON.stringify(headers)).toEqual(expect.any(String));
    }
    expect(await sessionOf(initialize, { ...named, "mcp-protocol-version": "2026-07-28" })).toBeNull();
    const envelope = {
      [PROTOCOL_VERSION_META_KEY]: "2026-07-28",
      [CLIENT_INFO_META_KEY]: params.clientInfo,
      [CLIENT_CAPABILITIES_META_KEY]: {},
    };
    expect(await sessionOf({ ...initialize, params: { ...params, _meta: envelope } }, named)).toBeNull();
  });

  test("the audit log and the response have the same request id", async ({ server }) => {
    const token = await server.token();
    const { programId } = await server.seed.program();
    const answer = await post(server, token, callTool("get_program", { programId }));
    await server.app.pipeline.flush();
    const [entry] = await listAudit(server.app.store, server.businessId, "program.read");
    expect(entry?.requestId).toBe(answer.headers.get("x-request-id"));
  });

  test("a body that is not a JSON-RPC message is refused", async ({ server }) => {
    const token = await server.token();
    const broken = await post(server, token, "{");
    expect([broken.status, broken.body.error.code]).toEqual([400, -32700]);
    const large = await post(server, token, callTool("list_programs", { search: "x".repeat(1024 * 1024) }));
    expect(large.status).toBe(413);
    const typed = await post(server, token, JSON.stringify(listTools), { "content-type": "text/plain" });
    expect(typed.status).toBe(415);
    expect((await post(server, token, callTool("list_programs", { limit: 1 }))).status).toBe(200);
  });
});

describe("a request whose parameters do not fit the protocol", () => {
  test.for([
    ["prompts/list", { cursor: 5 }, /params\.cursor: /],
    ["tools/list", { cursor: "never given" }, /Unknown cursor/],
    ["resources/list", { cursor: null }, /params\.cursor: /],
    ["resources/read", {}, /params\.uri: /],
    ["prompts/get", { name: 5 }, /params\.name: /],
    ["completion/complete", {}, /params\.ref: /],
  ] as const)("is refused with what is wrong: %s %j", async ([method, params, expected], { server }) => {
    const answer = await post(server, await server.token(), { jsonrpc: "2.0", id: 1, method, params });
    const { error } = messageOf(answer);
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(expected) });
  });
});

describe("every tool", () => {
  test("has a short name, a strict input schema without combinators at its top, and a hint of what it does", async ({
    server,
  }) => {
    const client = await (
      clients["2026-07-28 over HTTP"] as (server: TestServer, token: string) => Promise<ToolClient>
    )(server, await server.token(scopes));
    for (const { name, description, inputSchema, outputSchema, annotations } of await client.list()) {
      expect(name).toMatch(/^[a-z_]{1,40}$/);
      expect(description, name).toMatch(/\.$/);
      for (const schema of [inputSchema, outputSchema ?? {}] as Record<string, unknown>[]) {
        expect(schema["type"], name).toBe("object");
        expect(
          Object.keys(schema).filter((keyword) => /^(anyOf|oneOf|allOf|not|\$ref|enum)$/.test(keyword)),
          name,
        ).toEqual([]);
      }
      expect(inputSchema["additionalProperties"], name).toBe(false);
      const { effect } = operations[name as keyof typeof operations] ?? {
        effect: name === "run_batch" ? "send" : "read",
      };
      expect(annotations, name).toMatchObject({ readOnlyHint: effect === "read", openWorldHint: effect === "send" });
    }
  });
});
