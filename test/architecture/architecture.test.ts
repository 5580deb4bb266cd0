import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { check } from "./check.ts";
import { confined, direction, maxFileLines } from "./direction.ts";
import { checkNames } from "./names.ts";
import { read } from "./read.ts";

const src = join(import.meta.dirname, "../../src");
const evals = join(import.meta.dirname, "../../evals");

function readSources(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.(?:ts|json)$/.test(path),
  );
  return new Map(paths.map((path) => [path.replaceAll(sep, "/"), readFileSync(join(folder, path), "utf8")]));
}

describe("the project", () => {
  test("keeps the direction of imports, the sizes and the names", () => {
    const sources = readSources(src);
    expect(sources.size).toBeGreaterThan(50);
    expect(check(sources)).toEqual([]);
  });

  test("keeps the sizes and the names in its evals", () => {
    const code = [...readSources(evals)].filter(([path]) => path.endsWith(".ts"));
    const facts = code.map(([path, text]) => [path, read(path, text)] as const);
    expect(checkNames(new Map(facts))).toEqual([]);
    expect(facts.filter(([, { lines }]) => lines > maxFileLines).map(([path]) => path)).toEqual([]);
  });
});

describe("the checker", () => {
  const rest = { "contract/a.ts": "", "pipeline/a.ts": "", "store/port.ts": "", "store/sqlite/a.ts": "", "app.ts": "" };

  function findings(path: string, text: string): string[] {
    return check(new Map(Object.entries({ ...rest, [path]: text })));
  }

  test("accepts code that keeps the rules", () => {
    expect(findings("service/x.ts", 'import type { A } from "../contract/a.ts";')).toEqual([]);
    expect(findings("service/x.ts", 'import { port } from "../store/port.ts";')).toEqual([]);
    expect(findings("store/x.ts", 'import { DatabaseSync } from "node:sqlite";')).toEqual([]);
    expect(findings("tools/x.ts", 'import { Server } from "@modelcontextprotocol/server";')).toEqual([]);
    expect(findings("contract/x.ts", 'import * as z from "zod";')).toEqual([]);
    expect(findings("cli.ts", 'console.log("help");')).toEqual([]);
    expect(findings("lib/x.ts", 'console.error("on stderr"); // process.stdout, console.log()')).toEqual([]);
  });

  test.each([
    ["a value", 'import { a } from "../pipeline/a.ts";'],
    ["a type", 'import type { A } from "../pipeline/a.ts";'],
    ["an inline type", 'export type B = import("../pipeline/a.ts").A;'],
    ["a dynamic import", 'export const a = await import("../pipeline/a.ts");'],
    ["a side effect", 'import "../pipeline/a.ts";'],
    ["a re-export", 'export { a } from "../pipeline/a.ts";'],
    ["a re-export of everything", 'export * from "../pipeline/a.ts";'],
  ])("reports an import against the direction: %s", (_, text) => {
    expect(findings("service/x.ts", text)).toEqual(["service/x.ts: service must not import pipeline (pipeline/a.ts)"]);
  });

  test("distinguishes the store's port from the store", () => {
    expect(findings("service/x.ts", 'import "../store/sqlite/a.ts";')).toEqual([
      "service/x.ts: service must not import store (store/sqlite/a.ts)",
    ]);
    expect(findings("store/handler-context.ts", 'import "./sqlite/a.ts";')).toEqual([
      "store/handler-context.ts: port must not import store (store/sqlite/a.ts)",
    ]);
  });

  test("reports files outside the known folders", () => {
    expect(findings("misc/x.ts", "")).toEqual(["misc/x.ts: not in a known folder"]);
    expect(findings("start.ts", "")).toEqual(["start.ts: not in a known folder"]);
  });

  test("reports imports of missing files and of computed names", () => {
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
  ])("reports an import of %s in %s", (name, folder) => {
    const path = folder === "app" ? "app.ts" : `${folder}/x.ts`;
    expect(findings(path, `import "${name}";`)).toEqual([`${path}: ${folder} must not import ${name}`]);
  });

  test("reports import cycles, also through types and within one folder", () => {
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
  ])("reports code that writes to stdout: %s", (text) => {
    expect(findings("transport/x.ts", text)).toEqual(["transport/x.ts: writes to stdout"]);
  });

  test("reports a file of more than 400 lines", () => {
    expect(findings("pipeline/x.ts", "// a line\n".repeat(400))).toEqual([]);
    expect(findings("pipeline/x.ts", "// a line\n".repeat(401))).toEqual(["pipeline/x.ts: 401 lines"]);
  });

  test("reports a folder of more than 20 files, data among them, but not its subfolders", () => {
    const list = (count: number) =>
      Array.from({ length: count }, (_, index) => [`pipeline/x/${index}.${index % 2 ? "ts" : "json"}`, ""] as const);
    const inside = ["pipeline/x/y/z.ts", ""] as const;
    expect(check(new Map([...list(20), inside]))).toEqual([]);
    expect(check(new Map([...list(21), inside]))).toEqual(["pipeline/x: 21 files"]);
  });

  test("accepts an import of data", () => {
    const sources = { "lib/a.ts": 'import data from "./a.json" with { type: "json" };', "lib/a.json": "{}" };
    expect(check(new Map(Object.entries(sources)))).toEqual([]);
  });

  test.each([
    ["function f() {", "}"],
    ["const f = () => {", "};"],
    ["class C { m() {", "} }"],
  ])("reports a function of more than 70 lines: %s", (head, tail) => {
    const lines = (count: number) => `\n${head}\n${"work();\n".repeat(count - 2)}${tail}\n`;
    expect(findings("pipeline/x.ts", lines(70))).toEqual([]);
    expect(findings("pipeline/x.ts", lines(71))).toEqual(["pipeline/x.ts:2: a function of 71 lines"]);
  });

  test("reports a folder with a name that says nothing", () => {
    expect(findings("pipeline/utils/x.ts", "")).toEqual(["pipeline/utils/x.ts: a folder named utils"]);
  });

  test.each([
    ["export function bounds() {}", "bounds does not start with a verb"],
    ["export async function submissionOf() {}", "submissionOf does not start with a verb"],
    ["export const page = () => 1;", "page does not start with a verb"],
    ["export const table = 1, cell = function () {};", "cell does not start with a verb"],
    ["export interface Desk {}", 'Desk has the retired word "desk"'],
    ["export class MailOffice {}", 'MailOffice has the retired word "office"'],
    ["export const laneCount = 1;", 'laneCount has the retired word "lane"'],
  ])("reports the name in %s", (text, finding) => {
    expect(findings("pipeline/x.ts", text)).toEqual([`pipeline/x.ts: ${finding}`]);
  });

  test("accepts verbs, declarations, operations, and names that are not exported here", () => {
    const text = [
      "export function parseCursor() {}",
      "export const isExpired = () => true;",
      "export function operation() {}",
      "export function eliminate_submission() { const inner = () => 1; }",
      "export type Page = number;",
      "export const list = [() => 1];",
      "function bounds() {}",
      'export { size } from "../contract/a.ts";',
    ];
    expect(findings("pipeline/x.ts", text.join("\n"))).toEqual([]);
  });

  test("reports a file named by a retired word", () => {
    expect(findings("pipeline/retry-patience.ts", "")).toEqual([
      'pipeline/retry-patience.ts: the file\'s name has the retired word "patience"',
    ]);
    expect(findings("pipeline/surface.ts", "")).toEqual([]);
  });

  test("reports a name that two files export", () => {
    const sources = new Map([
      ["pipeline/a.ts", "export interface Grant {}"],
      ["upstream/a.ts", "export type Grant = string;"],
      ["contract/a.ts", "export const list_persons = 1;"],
      ["service/a.ts", "export const list_persons = 1;"],
    ]);
    expect(check(sources)).toEqual(["Grant is exported by pipeline/a.ts and upstream/a.ts"]);
  });
});

describe("the direction", () => {
  test("has no cycle in its own table", () => {
    const texts = Object.entries(direction).map(([folder, allowed]) => {
      const imports = allowed.map((name) => `import "../${name}/x.ts";`);
      return [`${folder}/x.ts`, imports.join("\n")] as const;
    });
    expect(check(new Map(texts)).filter((finding) => finding.startsWith("cycle"))).toEqual([]);
  });

  test("confines packages to folders in the table", () => {
    for (const folder of Object.values(confined).flat()) expect(Object.keys(direction)).toContain(folder);
  });
});
