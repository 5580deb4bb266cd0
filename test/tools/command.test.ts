import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toolNames } from "../../src/tools/catalog/definitions.ts";

const main = join(import.meta.dirname, "../../src/main.ts");

function run(args: readonly string[], environment: Record<string, string> = {}) {
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], ...environment };
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, "tools", ...args], { env, encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("programme-mcp tools", () => {
  test("prints bytes and tokens of each tool, and the total", () => {
    const { status, stdout } = run([]);
    expect(status).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(toolNames.length + 2);
    expect(lines[0]).toMatch(/^tool +scope +effect +bytes +tokens$/);
    const numbers = lines.slice(1).map((line) => /(\d+) +(\d+)$/.exec(line)?.slice(1).map(Number) ?? []);
    const [bytes, tokens] = numbers.at(-1) ?? [];
    const sum = (column: number) => numbers.slice(0, -1).reduce((total, row) => total + (row[column] ?? 0), 0);
    expect([bytes, tokens]).toEqual([sum(0), sum(1)]);
    expect(lines.at(-1)).toMatch(new RegExp(`^${toolNames.length} in all`));
  });

  test("applies the same settings as the server", () => {
    const tools = JSON.parse(run(["--json", "--read-only", "--toolsets", "files,programs"]).stdout);
    expect(tools.at(-1)).toEqual({ name: "get_connection", bytes: expect.any(Number), tokens: expect.any(Number) });
    expect(tools.slice(0, -1).every(({ effect }: { effect: string }) => effect === "read")).toBe(true);
    expect(tools.map(({ name }: { name: string }) => name)).toContain("list_tracks");
    expect(JSON.parse(run(["--json"], { PROGRAMME_TOOL_MODE: "search" }).stdout)).toHaveLength(3);
    expect(JSON.parse(run(["--json"], { PROGRAMME_TOOLS: "get_program" }).stdout)).toEqual([
      {
        name: "get_program",
        bytes: expect.any(Number),
        tokens: expect.any(Number),
        toolset: "programs",
        scope: "programs:read",
        effect: "read",
        method: "GET",
        path: "/programs/{programId}",
      },
      expect.objectContaining({ name: "get_connection" }),
    ]);
  });

  test.each([
    [["--read-onyl"], /unknown option '--read-onyl'/],
    [["--readonly"], /unknown option '--readonly'/],
    [["--read-only=false"], /./],
    [["--read-only", "false"], /./],
    [["--toolsets", "submission"], /^error: --toolsets must be toolset names \(programs, /],
    [["--tools", "submission"], /^error: --tools must be tool names/],
  ])("refuses %j", (args, message) => {
    const { status, stdout, stderr } = run(args);
    expect(status).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(message);
  });

  test("reports an invalid token", () => {
    const environment = { PROGRAMME_TOKEN: "a".repeat(64), PROGRAMME_DATABASE: ":memory:" };
    const { status, stdout, stderr } = run([], environment);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain("PROGRAMME_TOKEN is unknown");
  });
});
