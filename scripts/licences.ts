import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

/** Licences under which a package may be part of the published program. */
const allowed = [
  "MIT",
  "MIT-0",
  "ISC",
  "0BSD",
  "Unlicense",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "MIT OR Apache-2.0",
];

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

const rule = "-".repeat(80);

/**
 * Returns the folders of all packages that these files belong to, sorted.
 * @param files - paths of modules; those outside `node_modules` are our own
 */
export function listPackageFolders(files: Iterable<string>): string[] {
  return [...new Set([...files].map(packageRoot).filter((root) => root !== undefined))].sort();
}

/**
 * Returns the licences of packages as one text.
 * @throws Error for a package with a licence that is not in the list, or without one
 */
export function renderLicences(packageFolders: readonly string[]): string {
  const titles = new Map<string, string[]>();
  for (const { title, text } of packageFolders.map(termsOf)) titles.set(text, [...(titles.get(text) ?? []), title]);
  const sections = [...titles].map(([text, named]) => [named.sort().join("\n"), text].join("\n\n").trim()).sort();
  const head = "This program includes the following packages, each under its own terms.";
  return `${[head, ...sections].join(`\n\n${rule}\n\n`)}\n`;
}

/** Returns the folder of the package that a file belongs to. It may be inside another package's folder. */
function packageRoot(file: string): string | undefined {
  const parts = file.replace(/[?\0].*$/, "").split(sep);
  const modules = parts.lastIndexOf("node_modules");
  if (modules < 0) return undefined;
  const nameParts = parts[modules + 1]?.startsWith("@") ? 2 : 1;
  return parts.slice(0, modules + 1 + nameParts).join(sep);
}

/** @throws Error for a licence that is not in the list */
export function requireAllowedLicence(licence: string, title = "A package"): void {
  if (!allowed.includes(licence)) throw new Error(`${title} is under ${licence}: it must not be bundled unread`);
}

/** Returns a package's title, and its licence text if it has one. */
function termsOf(root: string): { title: string; text: string } {
  const { name, version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as PackageJson;
  requireAllowedLicence(license ?? "unknown terms", `${name} ${version}`);
  const files = readdirSync(root).filter((file) => /^(licen[cs]e|notice)\b/i.test(file));
  const texts = files.sort().map((file) => readFileSync(join(root, file), "utf8").replaceAll("\r\n", "\n").trim());
  return { title: `${name} ${version} (${license})`, text: texts.join("\n\n") };
}
