import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { programTemplate, renderProgramSchema } from "../src/imports/template.ts";
import { skillTexts } from "../src/resources/skill-texts.ts";
import { commandsPage } from "./commands-page.ts";
import { configurationPage } from "./configuration-page.ts";
import { errorsPage } from "./errors-page.ts";
import { hostExamples } from "./host-examples.ts";
import { hostPages } from "./host-pages.ts";
import { hostsPage } from "./hosts-page.ts";
import { limitsPage } from "./limits-page.ts";
import { manifest } from "./manifest.ts";
import { resourcesPage } from "./resources-page.ts";
import { scalingPage } from "./scaling-page.ts";
import { serverJson } from "./server-json.ts";
import { tokenCounts } from "./token-counts.ts";
import { toolsPage } from "./tools-page.ts";
import { versionModule } from "./version-module.ts";

const [commands, examples, scaling, hosts] = await Promise.all([
  commandsPage(),
  hostExamples(),
  scalingPage(),
  hostPages(),
]);

/** Every generated file, relative to the project's folder, and the function that renders it. */
const outputs: Readonly<Record<string, () => string>> = {
  ...Object.fromEntries(Object.entries({ ...examples, ...hosts }).map(([path, text]) => [path, () => text])),
  ...Object.fromEntries(skillTexts.map(({ frontmatter, text }) => [`skills/${frontmatter.name}/SKILL.md`, () => text])),
  "docs/commands.md": () => commands,
  "docs/configuration.md": configurationPage,
  "docs/errors.md": errorsPage,
  "docs/limits.md": limitsPage,
  "examples/own-data/programme.schema.json": renderProgramSchema,
  "examples/own-data/programme.yaml": () => programTemplate,
  "docs/hosts.md": hostsPage,
  "docs/resources.md": resourcesPage,
  "docs/scaling.md": () => scaling,
  "docs/tools.md": toolsPage,
  "manifest.json": manifest,
  "server.json": () => serverJson(),
  "src/lib/version.ts": versionModule,
  "src/tools/catalog/token-counts.ts": tokenCounts,
};

const check = process.argv.includes("--check");
const stale = Object.entries(outputs).filter(([path, render]) => {
  const target = new URL(`../${path}`, import.meta.url);
  const text = render();
  if (text === textOf(target)) return false;
  if (!check) {
    mkdirSync(new URL(".", target), { recursive: true });
    writeFileSync(target, text);
  }
  return true;
});

for (const [path] of stale) console.log(`${path} ${check ? "is out of date: run npm run gen" : "written"}`);
if (check && stale.length > 0) process.exitCode = 1;

function textOf(target: URL): string | undefined {
  try {
    // A checkout may use CRLF line ends.
    return readFileSync(target, "utf8").replaceAll("\r\n", "\n");
  } catch {
    return undefined;
  }
}
