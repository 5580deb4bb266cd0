import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./pages.ts";

const picture = readFileSync(join(root, "docs/images/demo.svg"), "utf8");

test("the recording of the demonstration is small, moves by a style sheet alone, and stands still where asked", () => {
  expect(Buffer.byteLength(picture)).toBeLessThan(200_000);
  expect(picture).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
  expect(picture).not.toMatch(/<script|<image|href=|url\(|@import/);
  expect(picture).toContain("prefers-reduced-motion");
  expect(picture).not.toMatch(/\b[0-9a-f]{64}\b/);
});

test("the recording shows every call of the demonstration, to its end", () => {
  const script = readFileSync(join(root, "scripts/demo.ts"), "utf8");
  const called = [...script.matchAll(/tool: "(\w+)"/g)].map(([, name]) => name);
  const shown = [...picture.matchAll(/→ (\w+)/g)].map(([, name]) => name);
  expect(called.length).toBeGreaterThan(10);
  expect(new Set(shown)).toEqual(new Set(called));
  expect(shown.at(-1)).toBe(called.at(-1));
});
