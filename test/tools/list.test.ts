import { describe, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { UsageError } from "../../src/config/usage-error.ts";
import { findMissingScopes, readScopes, type Scope } from "../../src/contract/access/scopes.ts";
import { type callNames, getToolset, operationNames, operations, workflowNames } from "../../src/contract/index.ts";
import { clients, readConfirmation, readError, type ToolClient, type ToolResult } from "../support/clients/clients.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

async function openSetup(environment: Record<string, string>, granted?: readonly Scope[]) {
  const { server, close } = await openTestServer(environment);
  onTestFinished(close);
  const token = await server.token(granted);
  const agent = (await clients["2026-07-28 over stdio"]?.(server, token)) as ToolClient;
  const names = async () => (await agent.list()).map(({ name }) => name);
  return { server, agent, names };
}

async function stateOf(server: TestServer, submissionId: string) {
  return (await server.app.store.reader(server.businessId).get("submissions", submissionId))?.state;
}

function textOf(result: ToolResult): string {
  return result.content[0]?.text ?? "";
}

describe("the list of tools", () => {
  test("has every tool, in the contract's order", async () => {
    const { names } = await openSetup({});
    expect(await names()).toEqual([...operationNames, "list_events", ...workflowNames, "run_batch", "get_connection"]);
  });

  test("has a unique, readable title for every tool", async () => {
    const { agent } = await openSetup({});
    const searching = await openSetup({ PROGRAMME_TOOL_MODE: "search" });
    const tools = [...(await agent.list()), ...(await searching.agent.list())];
    for (const { name, title } of tools) expect(title, name).toMatch(/^[A-Z][a-z]+( [a-z][a-z-]*)+$/);
    expect(new Set(tools.map(({ title }) => title)).size).toBe(tools.length);
    const titles = new Map(tools.map(({ name, title }) => [name, title]));
    expect(titles.get("list_programs")).toBe("List programmes");
    expect(titles.get("add_person_external_ref")).toBe("Add person external reference");
    expect(titles.get("find_tools")).toBe("Find tools");
  });

  test("has only tools that the token's scopes allow", async () => {
    const { names } = await openSetup({}, ["programs:read", "exports:write"]);
    expect(await names()).toEqual([
      ...["list_programs", "get_program", "create_export"].toSorted(inContract),
      "list_events",
      ...listWorkflowsWithin(["programs:read"]),
      "run_batch",
      "get_connection",
    ]);
    const another = await openSetup({}, ["exports:write"]);
    expect(await another.names()).toEqual(["create_export", "run_batch", "get_connection"]);
  });

  test("has only the toolsets and the tools named, together", async () => {
    const { names } = await openSetup({ PROGRAMME_TOOLSETS: "files, audit", PROGRAMME_TOOLS: "get_submission" });
    const expected = operationNames.filter(
      (name) => ["files", "audit"].includes(getToolset(name)) || name === "get_submission",
    );
    expect(await names()).toEqual([...expected, "list_events", "get_connection"]);
  });

  test("has only reads in read-only mode, whatever else is set", async () => {
    const { names } = await openSetup({
      PROGRAMME_READ_ONLY: "1",
      PROGRAMME_TOOLS: "get_submission,withdraw_submission",
    });
    expect(await names()).toEqual(["get_submission", "get_connection"]);
  });

  test("declares output schemas only where structured content is sent", async () => {
    const { agent } = await openSetup({ PROGRAMME_RESULTS: "text" });
    expect((await agent.list()).filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
    const other = await openSetup({});
    expect((await other.agent.list()).filter(({ outputSchema }) => outputSchema === undefined)).toEqual([]);
  });

  test.each([
    [
      { PROGRAMME_TOOLSETS: "submission" },
      /^PROGRAMME_TOOLSETS must be toolset names \(programs, submissions, .*not "submission"/,
    ],
    [{ PROGRAMME_TOOLS: "get_submission,get_submissions" }, /^PROGRAMME_TOOLS must be tool names/],
    [{ PROGRAMME_READ_ONLY: "ture" }, /^PROGRAMME_READ_ONLY must be true or false/],
    [{ PROGRAMME_READONLY: "true" }, /Did you mean PROGRAMME_READ_ONLY\?/],
    [{ PROGRAMME_TOOL_MODE: "searching" }, /^PROGRAMME_TOOL_MODE must be one of full, jobs, search/],
    [{ PROGRAMME_RESULT_BYTES: "100" }, /^PROGRAMME_RESULT_BYTES must be an integer from 2000/],
  ])("refuses to start with %j", (environment, message) => {
    expect(() => loadConfig(environment)).toThrow(UsageError);
    expect(() => loadConfig(environment)).toThrow(message);
  });
});

describe("a disabled tool", () => {
  test.each([
    [{ PROGRAMME_READ_ONLY: "true" }, "--read-only (PROGRAMME_READ_ONLY)"],
    [{ PROGRAMME_READ_ONLY: "true", PROGRAMME_TOOL_MODE: "search" }, "--read-only (PROGRAMME_READ_ONLY)"],
    [{ PROGRAMME_TOOLSETS: "programs" }, "--toolsets (PROGRAMME_TOOLSETS)"],
    [{ PROGRAMME_TOOLS: "list_programs" }, "--tools (PROGRAMME_TOOLS)"],
  ])("with %j is refused with the name of the setting", async (environment, setting) => {
    const { server, agent } = await openSetup(environment);
    const { submissionId, version } = await server.seed.submission({ state: "SUBMITTED" });
    const args = { submissionId, version, reason: "r" };
    const calls = [await agent.call("withdraw_submission", args)];
    if ("PROGRAMME_TOOL_MODE" in environment) {
      calls.push(await agent.call("call_tool", { name: "withdraw_submission", arguments: args }));
      calls.push(await agent.call("describe_tool", { name: "withdraw_submission" }));
    }
    for (const result of calls) {
      expect(result.structuredContent).toBeUndefined();
      const error = readError(result);
      expect(error.code).toBe("tool_not_offered");
      expect(error.next).toContain(setting);
    }
    expect(await stateOf(server, submissionId)).toBe("SUBMITTED");
    expect(await server.outbox()).toEqual([]);
  });

  test("is answered otherwise than an unknown tool", async () => {
    const { agent } = await openSetup({});
    for (const name of ["find_tools", "call_tool", "nothing", "__proto__", "constructor"]) {
      await expect(agent.call(name, {}), name).rejects.toThrow(/Unknown tool/);
    }
    await expect(agent.call("get_submision", {})).rejects.toThrow("Did you mean get_submission?");
    const batch = await agent.call("run_batch", { calls: [{ tool: "list_program" }] });
    expect(textOf(batch)).toContain("Did you mean list_programs?");
  });
});

test("the mode jobs lists few tools and calls all, directly, by call_tool and in a batch", async () => {
  const { server, agent, names } = await openSetup({ PROGRAMME_TOOL_MODE: "jobs" });
  const { submissionId } = await server.seed.submission();
  const search = ["find_tools", "describe_tool", "call_tool"];
  expect(await names()).toEqual([...workflowNames, "run_batch", "get_connection", ...search]);
  const call = { tool: "get_submission", arguments: { submissionId } };
  const answers = await Promise.all([
    agent.call(call.tool, call.arguments),
    agent.call("call_tool", { name: call.tool, arguments: call.arguments }),
    agent.call("run_batch", { calls: [call] }),
  ]);
  for (const answer of answers) expect(JSON.stringify(answer.structuredContent)).toContain(submissionId);
});

describe("search mode", () => {
  const search = { PROGRAMME_TOOL_MODE: "search" };

  test("names the arguments that there are in place of an unknown one", async () => {
    const { agent } = await openSetup(search);
    const issue = { path: "query", code: "unrecognized_keys", message: "Unknown argument; there are words" };
    expect(readError(await agent.call("find_tools", { query: "withdraw" }))).toMatchObject({
      details: { issues: expect.arrayContaining([issue]) },
    });
  });

  test("lists three tools, with annotations that fit what can be called", async () => {
    const { agent } = await openSetup(search);
    const hints = (await agent.list()).map(({ name, annotations }) => [
      name,
      annotations?.readOnlyHint,
      annotations?.destructiveHint,
    ]);
    expect(hints).toEqual([
      ["find_tools", true, undefined],
      ["describe_tool", true, undefined],
      ["call_tool", false, true],
    ]);
    for (const harmless of [
      await openSetup({ ...search, PROGRAMME_READ_ONLY: "true" }),
      await openSetup(search, readScopes),
    ]) {
      const tools = await harmless.agent.list();
      expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).toEqual([true, true, true]);
    }
  });

  test.each([
    ["advance submission", "advance_submission"],
    ["send emails to reviewers", "send_bulk_email"],
    ["programmes", "list_programs"],
    ["merge duplicate persons", "merge_person"],
    ["assign reviewers automatically", "auto_assign_reviewers"],
    ["download a file", "get_file_download_url"],
  ])("finds by %j, best first, %s among them", async (words, name) => {
    const { agent } = await openSetup(search);
    const lines = textOf(await agent.call("find_tools", { words })).split("\n");
    expect(lines.slice(0, 4).map((line) => line.split(":")[0])).toContain(name);
    expect(lines.length).toBeLessThanOrEqual(12);
  });

  test("finds and describes nothing that the token cannot use or the settings withhold", async () => {
    const { agent } = await openSetup({ ...search, PROGRAMME_READ_ONLY: "true" }, [
      "submissions:read",
      "submissions:write",
    ]);
    const found = textOf(await agent.call("find_tools", { words: "submission program reviewer withdraw" }));
    expect(found.split("\n").map((line) => line.split(":")[0])).toEqual(
      expect.arrayContaining(["get_submission", "list_submissions"]),
    );
    expect(found).not.toMatch(/withdraw_submission|list_reviewers|list_programs/);
    expect(textOf(await agent.call("find_tools", { words: "xyzzy" }))).toBe(
      "No tool matches. There are tools for submissions, events, workflows, several calls, the connection.",
    );
  });

  test("describes a tool as the full list does", async () => {
    const { agent } = await openSetup(search);
    const full = await (await openSetup({})).agent.list();
    const described = JSON.parse(textOf(await agent.call("describe_tool", { name: "list_submissions" })));
    const { name, title, description, inputSchema } = full.find((tool) => tool.name === "list_submissions") ?? {};
    expect(described).toEqual({ name, title, description, inputSchema });
  });

  test("describes a tool's output as the full list does, if results are structured alone", async () => {
    const results = { PROGRAMME_RESULTS: "structured" };
    const { agent } = await openSetup({ ...search, ...results });
    const full = await (await openSetup(results)).agent.list();
    for (const name of ["list_submissions", "get_connection"]) {
      const described = JSON.parse(textOf(await agent.call("describe_tool", { name })));
      const { outputSchema } = full.find((tool) => tool.name === name) ?? {};
      expect(outputSchema).toBeDefined();
      expect(described.outputSchema).toEqual(outputSchema);
    }
  });

  test("applies argument coercion, scopes and validation to its calls", async () => {
    const { server, agent } = await openSetup(search, ["submissions:read"]);
    const { submissionId } = await server.seed.submission({});
    const result = await agent.call("call_tool", {
      name: "get_submission",
      arguments: JSON.stringify({ id: submissionId }),
    });
    expect(result.structuredContent?.data).toMatchObject({ submissionId });
    expect(result.structuredContent?.notes).toContain("id was read as submissionId.");
    const refused = await agent.call("call_tool", { name: "list_persons" });
    expect(readError(refused).code).toBe("insufficient_scope");
    const wrong = await agent.call("call_tool", {
      name: "get_submission",
      arguments: { submissionID: submissionId, sellect: [] },
    });
    expect(JSON.stringify(readError(wrong))).toContain("did you mean select?");
  });

  test("asks for confirmation as a direct call does", async () => {
    const { server, agent } = await openSetup({ ...search, PROGRAMME_CONFIRM: "ask" });
    const { submissionId, version } = await server.seed.submission({ state: "SUBMITTED" });
    const args = { submissionId, version, reason: "Withdrawn by phone" };
    const question = await agent.call("call_tool", { name: "withdraw_submission", arguments: args });
    const { token } = readConfirmation(question);
    expect(await stateOf(server, submissionId)).toBe("SUBMITTED");
    await agent.call("call_tool", { name: "withdraw_submission", arguments: { ...args, confirmation: token } });
    expect(await stateOf(server, submissionId)).toBe("WITHDRAWN");
  });

  test.each([
    ["call_tool", { name: "list_submission" }, "did you mean list_submissions?"],
    ["call_tool", { name: "zz" }, "find_tools finds one"],
    ["describe_tool", {}, '"path":"name"'],
    ["find_tools", { words: "a", more: 1 }, "unrecognized_keys"],
  ])("refuses %s %j", async (name, args, message) => {
    const { agent } = await openSetup(search);
    const result = await agent.call(name, args);
    expect(readError(result).code).toBe("validation_failed");
    expect(textOf(result)).toContain(message);
  });
});

test("a batch changes nothing where all tools only read", async () => {
  const { agent } = await openSetup({ PROGRAMME_READ_ONLY: "1" });
  const batch = (await agent.list()).find(({ name }) => name === "run_batch");
  expect(batch?.annotations).toEqual({ readOnlyHint: true, openWorldHint: false });
});

test("every tool has annotations that describe its effect", async () => {
  const { agent } = await openSetup({});
  const tools = await agent.list();
  const [batch, connection] = tools.slice(-2);
  expect(connection?.annotations).toEqual({ readOnlyHint: true, openWorldHint: false });
  expect(batch?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true, openWorldHint: true });
  for (const { name, annotations } of tools.slice(0, -2)) {
    const { effect } = operations[name as (typeof callNames)[number]];
    expect(annotations?.readOnlyHint, name).toBe(effect === "read");
    expect(annotations?.openWorldHint, name).toBe(effect === "send");
  }
});

/** Returns the workflows that a token with these scopes can use. */
function listWorkflowsWithin(granted: readonly Scope[]): string[] {
  return workflowNames.filter((name) => findMissingScopes(operations[name], new Set(granted)).length === 0);
}

function inContract(left: string, right: string): number {
  const order: readonly string[] = operationNames;
  return order.indexOf(left) - order.indexOf(right);
}
