import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { validateManifest } from "@anthropic-ai/mcpb";
import { zipSync } from "fflate";
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
  if (!validateManifest(join(stage, "manifest.json"))) throw new Error("The manifest is not valid");
  const archive = packFolder(stage);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, bundleName), archive);
  writeFileSync(join(folder, "server.json"), serverJson(createHash("sha256").update(archive).digest("hex")));
}

/**
 * Returns a folder's files as a zip file. Two archives of the same files are equal: names are sorted, the time is
 * fixed, and everyone may read each file. mcpb's own packing writes the current time.
 */
function packFolder(path: string): Uint8Array {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => join(entry.parentPath, entry.name)).sort();
  const contents = files.map((file) => [relative(path, file).replaceAll(sep, "/"), readFileSync(file)] as const);
  return zipSync(Object.fromEntries(contents), { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o644 << 16 });
}
