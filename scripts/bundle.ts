import { createHash } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { packExtension } from "@anthropic-ai/mcpb";
import { bundleProgram } from "./bundle-program.ts";
import { packageFacts } from "./package-facts.ts";
import { bundleName, serverJson } from "./server-json.ts";

/**
 * `npm run bundle`: creates the desktop bundle, and `server.json` with its hash for the MCP registry, in `build` or in
 * the folder given as argument.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = resolve(process.argv[2] ?? join(root, "build"));
const stage = mkdtempSync(join(tmpdir(), "programme-bundle-"));
try {
  await bundle();
} finally {
  rmSync(stage, { recursive: true, force: true });
}

async function bundle(): Promise<void> {
  await bundleProgram(join(stage, "dist"));
  for (const file of ["manifest.json", "icon.png", "LICENSE"]) copyFileSync(join(root, file), join(stage, file));
  const { name, version } = packageFacts;
  writeFileSync(join(stage, "package.json"), `${JSON.stringify({ name, version, type: "module" })}\n`);
  const outputPath = join(folder, bundleName);
  if (!(await packExtension({ extensionPath: stage, outputPath }))) throw new Error("The bundle could not be made");
  const sha256 = createHash("sha256").update(readFileSync(outputPath)).digest("hex");
  writeFileSync(join(folder, "server.json"), serverJson(sha256));
}
