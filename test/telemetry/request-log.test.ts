import { describe, expect, onTestFinished, test } from "vitest";
import { createLogger } from "../../src/lib/log.ts";
import { clients } from "../support/clients/clients.ts";
import { rest, send } from "../support/clients/raw-http.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

type Line = Readonly<Record<string, unknown>>;

interface ReceivedNotifications {
  readonly server: TestServer;
  readonly text: () => string;
  /** Lines of the access log, each once its request has ended. */
  lines(): Line[];
}

const messages = ["Tool call", "MCP request", "Operation", "HTTP request"];

async function openHeard(
  level: "info" | "debug",
  environment: Record<string, string> = {},
): Promise<ReceivedNotifications> {
  const written: string[] = [];
  const log = await createLogger({ level, format: "json", stream: { write: (line) => void written.push(line) } });
  const { server, close } = await openTestServer(environment, { log });
  onTestFinished(close);
  return {
    server,
    text: () => written.join(""),
    lines: () => written.map((line): Line => JSON.parse(line)).filter(({ msg }) => messages.includes(String(msg))),
  };
}

const person = { kinds: ["applicant"], provenance: { source: "test" } };
const connect = clients["2026-07-28 over HTTP"] as NonNullable<(typeof clients)[string]>;
const overStdio = clients["2026-07-28 over stdio"] as NonNullable<(typeof clients)[string]>;

describe("each request has one log line", () => {
  test("for a tool call: tool, outcome, duration, request id and caller", async () => {
    const { server, lines } = await openHeard("debug");
    const token = await server.token(["programs:read"]);
    const [{ tokenId } = { tokenId: "" }] = (await server.app.store.listTokens()).slice(-1);
    const agent = await connect(server, token);
    await agent.call("get_program", { programId: "prg_none" });
    const [line, ...more] = lines().filter(({ msg }) => msg === "Tool call");
    expect(line).toEqual({
      level: "debug",
      time: expect.any(String),
      surface: "mcp",
      tool: "get_program",
      outcome: "not_found",
      requestId: expect.stringMatching(/^req_/),
      caller: tokenId,
      durationMs: expect.any(Number),
      msg: "Tool call",
    });
    expect(more).toEqual([]);
    // Nor does its operation or its HTTP request have one of its own.
    expect(lines().filter(({ requestId }) => requestId === line?.["requestId"])).toHaveLength(1);
  });

  test("for a REST request: operation, status and the request id of the response", async () => {
    const { server, lines } = await openHeard("debug");
    const answer = await rest(server, await server.token(), "list_programs", {});
    expect(lines()).toEqual([
      {
        level: "debug",
        time: expect.any(String),
        surface: "rest",
        operation: "list_programs",
        outcome: "ok",
        status: 200,
        requestId: answer.headers.get("x-request-id"),
        caller: expect.stringMatching(/^tok_/),
        durationMs: expect.any(Number),
        msg: "Operation",
      },
    ]);
  });

  test("for other requests: surface, method and status; for probes none", async () => {
    const { server, lines } = await openHeard("debug");
    await send(`${server.origin}/integrations/v1/nowhere?email=ada@example.org`, {});
    await send(`${server.origin}/healthz`, {});
    await send(`${server.origin}/invitations/${"ab".repeat(32)}`, {});
    await expect
      .poll(() => lines().map(({ surface, status }) => [surface, status]))
      .toEqual([
        ["rest", 404],
        ["invitation", 404],
      ]);
  });

  test("over stdio, where the caller is the process's own", async () => {
    const { server, lines } = await openHeard("debug");
    const agent = await overStdio(server, await server.token());
    await agent.call("list_programs", {});
    const line = lines().find(({ msg }) => msg === "Tool call");
    expect(line).toMatchObject({ surface: "mcp", tool: "list_programs", outcome: "ok" });
    expect(line).not.toHaveProperty("caller");
  });
});

describe("at the default log level", () => {
  test("changes are logged, reads and refusals are not", async () => {
    const { server, lines } = await openHeard("info");
    const token = await server.token();
    await rest(server, token, "list_programs", {});
    await rest(server, token, "get_program", { programId: "prg_none" });
    await rest(server, undefined, "create_person", {});
    await rest(server, token, "create_person", { ...person, primaryEmail: "ada@example.org" });
    const agent = await connect(server, token);
    await agent.call("list_programs", {});
    await agent.call("create_person", { ...person, primaryEmail: "grace@example.org" });
    expect(lines().map(({ operation, tool, outcome }) => [operation ?? tool, outcome])).toEqual([
      ["create_person", "ok"],
      ["create_person", "ok"],
    ]);
  });

  test("server faults are logged", async () => {
    const { server, lines } = await openHeard("info");
    const token = await server.token();
    server.app.store.listReader = () => {
      throw new Error("disk I/O error");
    };
    await rest(server, token, "list_programs", {});
    expect(lines()).toMatchObject([
      { level: "info", operation: "list_programs", outcome: "internal_error", status: 500 },
    ]);
  });
});

test("no line contains a token, an address or other data of the request", async () => {
  const { server, text, lines } = await openHeard("debug");
  const token = await server.token();
  const agent = await connect(server, token);
  const secret = "ada.marsh@example.org";
  await agent.call("create_person", {
    ...person,
    primaryEmail: secret,
    contactDetails: { firstName: "Ada", phone: "+46812345678" },
  });
  await agent.call("list_persons", { q: secret });
  await rest(server, token, "list_persons", { q: secret });
  await rest(server, "f".repeat(64), "list_persons", { q: secret });
  expect(lines().length).toBeGreaterThanOrEqual(4);
  for (const hidden of [token, "f".repeat(64), secret, "Ada", "812345678"]) expect(text()).not.toContain(hidden);
});
