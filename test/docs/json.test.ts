import { parse as parseJsonc } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import { openHome } from "../support/processes/program.ts";
import { pageAt, pages } from "./pages.ts";

const blocks = pages.flatMap(({ path, blocks: all }) =>
  all.filter(({ language }) => language === "json").map(({ text }) => [path, text] as const),
);

interface Entry {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
}

describe("a block of JSON", () => {
  test("can be parsed", () => {
    expect(blocks.length).toBeGreaterThan(8);
    for (const [path, text] of blocks) expect(() => JSON.parse(text), `${path}: ${text}`).not.toThrow();
  });
});

test("settings in the first steps are those that `config` prints", async () => {
  const home = await openHome();
  const shown = pageAt("docs/getting-started.md")
    .blocks.filter(({ language }) => language === "json")
    .map(({ text }) => JSON.parse(text) as { mcpServers?: Record<string, Entry> })
    .flatMap(({ mcpServers = {} }) => Object.values(mcpServers));
  expect(shown.length).toBeGreaterThan(1);
  for (const entry of shown) {
    const args =
      entry.url === undefined
        ? ["claude-desktop", "--launch", "npx"]
        : ["claude-code", "--http", entry.url, "--inline-token"];
    const token = entry.url === undefined ? "" : "f".repeat(64);
    const { code, stdout, stderr } = await home.run(["config", ...args], { PROGRAMME_TOKEN: token });
    expect([code, stderr.includes("error")]).toEqual([0, false]);
    const [printed] = Object.values((parseJsonc(stdout) as { mcpServers: Record<string, Entry> }).mcpServers);
    const given = JSON.stringify(entry).replace(/<[\w ]*token>/, "f".repeat(64));
    expect(withoutVersion(printed)).toEqual(withoutVersion(JSON.parse(given)));
  }
});

/** Who pastes takes the latest version, who lets `config` write the one that wrote. */
function withoutVersion(entry: unknown): unknown {
  return JSON.parse(JSON.stringify(entry).replace(/programme-mcp@[\d.]+/g, "programme-mcp"));
}
