import { readFileSync, writeFileSync } from "node:fs";
import { configurationPage } from "./configuration-page.ts";
import { manifest } from "./manifest.ts";
import { resourcesPage } from "./resources-page.ts";
import { tokenCounts } from "./token-counts.ts";
import { toolsPage } from "./tools-page.ts";

/** Every generated file, relative to the project's folder, and what writes it. */
const outputs: Readonly<Record<string, () => string>> = {
  "docs/configuration.md": configurationPage,
  "docs/resources.md": resourcesPage,
  "docs/tools.md": toolsPage,
  "manifest.json": manifest,
  "src/tools/token-counts.ts": tokenCounts,
};

const check = process.argv.includes("--check");
const stale = Object.entries(outputs).filter(([path, render]) => {
  const target = new URL(`../${path}`, import.meta.url);
  const text = render();
  if (text === textOf(target)) return false;
  if (!check) writeFileSync(target, text);
  return true;
});

for (const [path] of stale) console.log(`${path} ${check ? "is out of date: run npm run gen" : "written"}`);
if (check && stale.length > 0) process.exitCode = 1;

function textOf(target: URL): string | undefined {
  try {
    // A checkout may have turned line ends into CRLF.
    return readFileSync(target, "utf8").replaceAll("\r\n", "\n");
  } catch {
    return undefined;
  }
}
