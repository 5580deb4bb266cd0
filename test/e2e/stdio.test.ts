import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as FirstMajorClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstMajorTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, test } from "vitest";
import { callNames } from "../../src/contract/index.ts";
import { type Home, openHome } from "../support/processes/program.ts";

const info = { name: "test", version: "1.0.0" };

interface ToolUser {
  listTools(): Promise<{ tools: { name: string }[] }>;
  close(): Promise<void>;
}

type Start = (home: Home, args: string[], environment?: Record<string, string>) => Promise<ToolUser>;

function secondMajor(mode: "auto" | "legacy" | { pin: string }): Start {
  return async (home, args, environment) => {
    const client = new Client(info, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport({ ...home.command(args, environment), stderr: "ignore" }));
    return client;
  };
}

const clients: Record<string, Start> = {
  "either revision": secondMajor("auto"),
  "the 2025 era": secondMajor("legacy"),
  "2026-07-28": secondMajor({ pin: "2026-07-28" }),
  "the first major": async (home, args, environment) => {
    const client = new FirstMajorClient(info);
    await client.connect(new FirstMajorTransport({ ...home.command(args, environment), stderr: "ignore" }));
    return client;
  },
};

interface TokenRow {
  readonly name: string;
  readonly scopes: string;
  readonly revokedAt: string | null;
}

/** The tokens that a program made for itself. */
function processTokens({ database }: Home): TokenRow[] {
  const db = new DatabaseSync(database, { readOnly: true });
  const rows = db.prepare("select name, scopes, revokedAt from tokens where name = 'local process'").all();
  db.close();
  return rows as unknown as TokenRow[];
}

/** Those in use once the service is open, which a client that was greeted does not wait for. */
async function inUse(home: Home): Promise<TokenRow[]> {
  for (let left = 200; left > 0; left--) {
    const rows = tokensIfThere(home).filter(({ revokedAt }) => revokedAt === null);
    if (rows.length > 0) return rows;
    await wait(50);
  }
  return [];
}

function tokensIfThere(home: Home): TokenRow[] {
  try {
    return processTokens(home);
  } catch {
    // There is no database yet, or its tables are being made.
    return [];
  }
}

/** The token rows once the last process has ended, which a client does not wait for. */
async function settled(home: Home): Promise<TokenRow[]> {
  for (let left = 100; left > 0 && processTokens(home).some(({ revokedAt }) => revokedAt === null); left--)
    await wait(50);
  return processTokens(home);
}

describe("the program over stdio", () => {
  test.each(Object.entries(clients))("serves a client of %s as the token it was given", async (_, start) => {
    const home = await openHome();
    const database = ["--database", home.database];
    const { stdout } = await home.run(["token", "create", "--scopes", "programs:read,feedback:write", ...database]);
    const client = await start(home, ["stdio", ...database], { PROGRAMME_TOKEN: stdout.trim() });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      "get_connection",
      "get_program",
      "list_events",
      "list_open_work",
      "list_programs",
      "release_feedback",
      "run_batch",
      "search_records",
    ]);
    await client.close();
    expect(processTokens(home)).toEqual([]);
  });

  test("works without a token: it creates a temporary one and revokes it", async () => {
    const home = await openHome();
    const client = await (clients["2026-07-28"] as Start)(home, ["--database", home.database]);
    expect((await client.listTools()).tools).toHaveLength(callNames.length + 2);
    // A client may have started it before, to see which revision it speaks.
    const [token, ...others] = await inUse(home);
    expect(others).toEqual([]);
    expect(JSON.parse(token?.scopes ?? "[]")).toHaveLength(30);
    expect(token?.scopes).not.toContain("persons:sensitive:read");
    await client.close();
    expect((await settled(home)).filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
  });

  test.each([
    "SIGTERM",
    "SIGINT",
    "the end of its input",
  ] as const)("revokes its temporary token at %s", async (end) => {
    const home = await openHome();
    const started = home.start(["stdio", "--database", home.database]);
    started.process.stdin?.write(`${JSON.stringify(initialize)}\n`);
    await started.printed(/\n/);
    expect(await inUse(home)).toHaveLength(1);
    if (end === "the end of its input") started.process.stdin?.end();
    const { code } = await (end === "the end of its input" ? started.ended() : started.stop(end));
    expect(code).toBe(0);
    expect(processTokens(home).map(({ revokedAt }) => revokedAt !== null)).toEqual([true]);
  });

  test.each([
    "SIGTERM",
    "SIGINT",
    "the end of its input",
  ] as const)("answers initialize and tools/list before it opens a database, and leaves nothing behind at %s", async (end) => {
    const home = await openHome();
    const product = { PROGRAMME_BASE_URL: "http://127.0.0.1:9", PROGRAMME_TOKEN: "0123456789abcdef".repeat(4) };
    const started = home.start(["stdio", "--database", home.database], product);
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    for (const message of [initialize, list]) started.process.stdin?.write(`${JSON.stringify(message)}\n`);
    await started.printed(/"id":2.*\n/);
    if (end === "the end of its input") started.process.stdin?.end();
    const { code, stdout, stderr } = await (end === "the end of its input" ? started.ended() : started.stop(end));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(existsSync(home.database)).toBe(false);
  });

  test("reports why it cannot open a database, to an initialized client too", async () => {
    const home = await openHome();
    const started = home.start(["stdio", "--database", home.path]);
    started.process.stdin?.write(`${JSON.stringify(initialize)}\n`);
    const { code, stderr } = await started.ended();
    expect(stderr).toMatch(/^error: /m);
    expect(code).toBe(1);
  });

  test("writes only protocol messages to stdout, whatever the input and the log level", async () => {
    const home = await openHome();
    const started = home.start(["stdio", "--database", home.database, "--log-level", "trace", "--demo"]);
    const { stdin } = started.process;
    const messages = [
      initialize,
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "tools/list" },
      { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "list_programs", arguments: {} } },
      { jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "nothing", arguments: {} } },
      { jsonrpc: "2.0", id: 5, method: "nothing/at/all" },
    ];
    stdin?.write("this is no message\n\n{}\n[1]\n");
    for (const message of messages) stdin?.write(`${JSON.stringify(message)}\n`);
    await started.printed(/"id":5/);
    await started.printed(/"id":3/);
    stdin?.end();
    const { stdout, code } = await started.ended();
    const lines = stdout.trimEnd().split("\n");
    const answers = lines.map((line) => JSON.parse(line));
    for (const answer of answers) expect(answer.jsonrpc).toBe("2.0");
    const numbers = answers.map(({ id }) => id).filter((id) => typeof id === "number");
    expect(numbers.toSorted()).toEqual([1, 2, 3, 4, 5]);
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    expect(byId.get(2).result.tools).toHaveLength(callNames.length + 2);
    expect(byId.get(3).result.structuredContent.data.length).toBeGreaterThan(0);
    expect(byId.get(4).error.code).toBe(-32602);
    expect(byId.get(5).error.code).toBe(-32601);
    expect(code).toBe(0);
  });

  test("returns links to files that work while it runs", async () => {
    const home = await openHome();
    const client = new Client(info, { versionNegotiation: { mode: "auto" } });
    const command = home.command(["--database", home.database, "--demo"]);
    await client.connect(new StdioClientTransport({ ...command, stderr: "ignore" }));
    await client.callTool({ name: "list_programs", arguments: {} });
    const link = await client.callTool({ name: "get_file_download_url", arguments: { fileId: cleanFile(home) } });
    const { data } = link.structuredContent as { data: { downloadUrl: string } };
    expect(data.downloadUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/files\//);
    const response = await fetch(data.downloadUrl);
    expect([response.status, response.headers.get("content-disposition")]).toEqual([
      200,
      expect.stringMatching(/^attachment/),
    ]);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
    await client.close();
  });
});

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: info },
};

/** A file of the oldest business that may be downloaded. */
function cleanFile({ database }: Home): string {
  const db = new DatabaseSync(database, { readOnly: true });
  const oldest = "(select businessId from businesses order by createdAt, businessId limit 1)";
  const row = db
    .prepare(`select fileId from files where scanStatus = 'clean' and businessId = ${oldest} limit 1`)
    .get();
  db.close();
  return String(row?.["fileId"]);
}
