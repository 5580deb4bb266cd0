import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildProgram } from "../../src/cli/program.ts";
import { settings } from "../../src/config/table.ts";
import { events } from "../../src/contract/events.ts";
import { isExternal, pageAt, pages, root, targetOf } from "./pages.ts";

const links = pages.flatMap((page) => page.links.map((href) => [page, href] as const));

describe("a link", () => {
  test("within the project leads to an existing file and heading", () => {
    const within = links.filter(([, href]) => !isExternal(href));
    expect(within.length).toBeGreaterThan(100);
    const dead = within.filter(([page, href]) => {
      const { path, anchor } = targetOf(page, href);
      if (!existsSync(join(root, path))) return true;
      return anchor !== "" && path.endsWith(".md") && !pageAt(path).anchors.has(anchor);
    });
    expect(dead.map(([page, href]) => [page.path, href])).toEqual([]);
  });

  test("to another site is an absolute https URL", () => {
    for (const [page, href] of links.filter(([, each]) => isExternal(each))) {
      const { protocol, username, hostname } = new URL(href);
      expect([page.path, href, protocol, username]).toEqual([page.path, href, "https:", ""]);
      expect(hostname, page.path).toContain(".");
    }
  });
});

describe("a page", () => {
  test("can be reached from the README", () => {
    const reached = new Set(["README.md"]);
    for (const path of reached) {
      for (const href of pageAt(path).links.filter((each) => !isExternal(each))) {
        const target = targetOf(pageAt(path), href).path;
        if (pages.some(({ path: known }) => known === target)) reached.add(target);
      }
    }
    const missed = pages.map(({ path }) => path).filter((path) => !reached.has(path) && !path.startsWith(".github/"));
    expect(missed).toEqual([]);
  });

  test("has one title", () => {
    for (const { path, titles } of pages.filter((each) => !each.path.startsWith(".github/")))
      expect([path, titles]).toEqual([path, [expect.any(String)]]);
  });
});

describe("what a page names", () => {
  test("is an existing variable", () => {
    const known = new Set<string>(settings.map(([, { variable }]) => variable));
    for (const { path, text } of pages) {
      const named = text.match(/\bPROGRAMME_[A-Z0-9_]+\b(?!_?…|\*)/g) ?? [];
      expect([path, named.filter((name) => !known.has(name))]).toEqual([path, []]);
    }
  });

  test("is an option that some command has", async () => {
    const program = await buildProgram();
    const known = new Set(
      [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)].flatMap(({ options }) =>
        options.flatMap(({ long }) => long ?? []),
      ),
    );
    for (const { path, codes } of pages) {
      const named = codes.flatMap(
        (code) => (/^(?:--|programme-mcp )/.test(code) ? code.match(/(?<!\S)--[a-z][a-z0-9-]*/g) : null) ?? [],
      );
      expect([path, named.filter((name) => !known.has(name) && !["--help", "--version"].includes(name))]).toEqual([
        path,
        [],
      ]);
    }
  });

  test("in a command is an event type that there is", () => {
    const named = pages.flatMap(({ path, blocks }) =>
      blocks
        .filter(({ language }) => language === "sh")
        .flatMap(({ text }) => text.match(/(?<=--events? )[a-z._,]+/g) ?? [])
        .map((list) => [path, list] as const),
    );
    expect(named.length).toBeGreaterThan(2);
    for (const [path, list] of named)
      expect([path, list.split(",").filter((type) => !Object.hasOwn(events, type))]).toEqual([path, []]);
  });

  test("is an existing file or folder of the project", () => {
    const places = /^(?:src|test|docs|scripts|examples|bench|\.ci|\.github)\/[\w./-]*$/;
    const named = pages.flatMap(({ path, codes }) =>
      codes.filter((code) => places.test(code)).map((code) => [path, code]),
    );
    expect(named.length).toBeGreaterThan(10);
    for (const [path, code = ""] of named)
      expect([path, code, existsSync(join(root, code))]).toEqual([path, code, true]);
  });
});

describe("the page on security", () => {
  const { text } = pageAt("docs/security.md");

  test("quotes existing test titles", () => {
    const cited = [...text.matchAll(/\[[^\]]+\]\(\.\.\/(test\/[\w./-]+\.test\.ts)\)((?: “[^”]+”,?)*)/g)];
    expect(cited.length).toBeGreaterThan(40);
    for (const [, file = "", words = ""] of cited) {
      expect(statSync(join(root, file)).isFile(), file).toBe(true);
      const source = readFileSync(join(root, file), "utf8").replace(/\s+/g, " ");
      for (const [, title = ""] of words.matchAll(/“([^”]+)”/g)) expect(source, file).toContain(title);
    }
  });

  test("has a measure, a source file and a test for each threat", () => {
    const [, ...sections] = text.split(/^## (?=\S)/m);
    const threats = sections.filter((section) => section.includes("| measure | code | test |"));
    expect(threats.length).toBeGreaterThan(8);
    for (const section of threats) {
      const rows = section.split("\n").filter((line) => line.startsWith("| ") && !/^\| (measure|---)/.test(line));
      expect(rows.length, section.slice(0, 30)).toBeGreaterThan(0);
      for (const row of rows) expect(row).toMatch(/\]\(\.\.\/.*\| .*\]\(\.\.\/test\//);
    }
  });
});
