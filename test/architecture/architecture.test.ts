import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { check } from "./check.ts";
import { confined, direction } from "./direction.ts";

const src = join(import.meta.dirname, "../../src");

function sourcesOfProject(): Map<string, string> {
  const paths = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  return new Map(paths.map((path) => [path.replaceAll(sep, "/"), readFileSync(join(src, path), "utf8")]));
}

describe("the project", () => {
  test("keeps the direction of imports, the sizes and the names", () => {
    const sources = sourcesOfProject();
    expect(sources.size).toBeGreaterThan(50);
    expect(check(sources)).toEqual([]);
  });
});

describe("the checker", () => {
  const rest = { "contract/a.ts": "", "pipeline/a.ts": "", "store/port.ts": "", "store/sqlite/a.ts": "", "app.ts": "" };

  function findings(path: string, text: string): string[] {
    return check(new Map(Object.entries({ ...rest, [path]: text })));
  }

  test("has nothing to say of what keeps the rules", () => {
    expect(findings("service/x.ts", 'import type { A } from "../contract/a.ts";')).toEqual([]);
    expect(findings("service/x.ts", 'import { port } from "../store/port.ts";')).toEqual([]);
    expect(findings("store/x.ts", 'import { DatabaseSync } from "node:sqlite";')).toEqual([]);
    expect(findings("tools/x.ts", 'import { Server } from "@modelcontextprotocol/server";')).toEqual([]);
    expect(findings("contract/x.ts", 'import * as z from "zod";')).toEqual([]);
    expect(findings("cli.ts", 'console.log("for people");')).toEqual([]);
    expect(findings("lib/x.ts", 'console.error("on stderr"); // process.stdout, console.log()')).toEqual([]);
  });

  test.each([
    ["a value", 'import { a } from "../pipeline/a.ts";'],
    ["a type", 'import type { A } from "../pipeline/a.ts";'],
    ["a type in place", 'export type B = import("../pipeline/a.ts").A;'],
    ["by the way", 'export const a = await import("../pipeline/a.ts");'],
    ["for its effects", 'import "../pipeline/a.ts";'],
    ["by passing it on", 'export { a } from "../pipeline/a.ts";'],
    ["by passing all on", 'export * from "../pipeline/a.ts";'],
  ])("finds an import against the direction: %s", (_, text) => {
    expect(findings("service/x.ts", text)).toEqual(["service/x.ts: service must not import pipeline (pipeline/a.ts)"]);
  });

  test("tells the store's port from the store", () => {
    expect(findings("service/x.ts", 'import "../store/sqlite/a.ts";')).toEqual([
      "service/x.ts: service must not import store (store/sqlite/a.ts)",
    ]);
    expect(findings("store/handler-context.ts", 'import "./sqlite/a.ts";')).toEqual([
      "store/handler-context.ts: port must not import store (store/sqlite/a.ts)",
    ]);
  });

  test("finds files in no known room", () => {
    expect(findings("misc/x.ts", "")).toEqual(["misc/x.ts: not in a known room"]);
    expect(findings("start.ts", "")).toEqual(["start.ts: not in a known room"]);
  });

  test("finds imports of files that are not there, and of names worked out at run time", () => {
    expect(findings("pipeline/x.ts", 'import "./gone.ts";')).toEqual([
      "pipeline/x.ts: imports pipeline/gone.ts, which is not there",
    ]);
    expect(findings("pipeline/x.ts", "await import(name);")).toEqual(["pipeline/x.ts: imports a computed name"]);
  });

  test.each([
    ["node:sqlite", "service"],
    ["pg", "pipeline"],
    ["kysely", "app"],
    ["@modelcontextprotocol/server", "pipeline"],
    ["undici", "tools"],
    ["node:fs", "domain"],
    ["pino", "contract"],
    ["hono/cors", "tools"],
  ])("finds %s in %s", (name, room) => {
    const path = room === "app" ? "app.ts" : `${room}/x.ts`;
    expect(findings(path, `import "${name}";`)).toEqual([`${path}: ${room} must not import ${name}`]);
  });

  test("finds cycles, through types and in one room too", () => {
    const sources = new Map([
      ["pipeline/a.ts", 'import { b } from "./b.ts";'],
      ["pipeline/b.ts", 'import type { C } from "./c.ts";'],
      ["pipeline/c.ts", 'export type A = import("./a.ts").A;'],
    ]);
    expect(check(sources)).toEqual(["cycle: pipeline/a.ts → pipeline/b.ts → pipeline/c.ts → pipeline/a.ts"]);
  });

  test.each([
    "process.stdout.write('x');",
    "console.log('x');",
    "console.info('x');",
    "process['stdout'].write('x');",
  ])("finds what writes to stdout: %s", (text) => {
    expect(findings("transport/x.ts", text)).toEqual(["transport/x.ts: writes to stdout"]);
  });

  test("finds a file above 400 lines", () => {
    expect(findings("pipeline/x.ts", "// a line\n".repeat(400))).toEqual([]);
    expect(findings("pipeline/x.ts", "// a line\n".repeat(401))).toEqual(["pipeline/x.ts: 401 lines"]);
  });

  test.each([
    ["function f() {", "}"],
    ["const f = () => {", "};"],
    ["class C { m() {", "} }"],
  ])("finds a function above 70 lines: %s", (head, tail) => {
    const lines = (count: number) => `\n${head}\n${"work();\n".repeat(count - 2)}${tail}\n`;
    expect(findings("pipeline/x.ts", lines(70))).toEqual([]);
    expect(findings("pipeline/x.ts", lines(71))).toEqual(["pipeline/x.ts:2: a function of 71 lines"]);
  });

  test("finds folders named for nothing", () => {
    expect(findings("pipeline/utils/x.ts", "")).toEqual(["pipeline/utils/x.ts: a folder named utils"]);
  });
});

describe("the direction", () => {
  test("names no room twice and has no way round: its own table has no cycle", () => {
    const texts = Object.entries(direction).map(([room, allowed]) => {
      const imports = allowed.map((name) => `import "../${name}/x.ts";`);
      return [`${room}/x.ts`, imports.join("\n")] as const;
    });
    expect(check(new Map(texts)).filter((finding) => finding.startsWith("cycle"))).toEqual([]);
  });

  test("confines packages to rooms that exist", () => {
    for (const room of Object.values(confined).flat()) expect(Object.keys(direction)).toContain(room);
  });
});
