import { dirname, join } from "node:path/posix";
import {
  confined,
  direction,
  type Folder,
  maxFileLines,
  maxFolderFiles,
  maxFunctionLines,
  packagesOf,
  portFiles,
  refusedFolders,
  stdoutFile,
  stdoutFolders,
} from "./direction.ts";
import { checkNames } from "./names.ts";
import { type Facts, read } from "./read.ts";

/** Source texts and JSON data by their path inside `src`. */
export type Sources = ReadonlyMap<string, string>;

/** Returns a line for each violation of the rules in `direction.ts` and `verbs.ts`. */
export function check(sources: Sources): string[] {
  const code = [...sources].filter(([path]) => !path.endsWith(".json"));
  const facts = new Map(code.map(([path, text]) => [path, read(path, text)]));
  return [
    ...checkFolders(sources),
    ...[...facts].flatMap(([path, fact]) => checkFile(path, fact, sources)),
    ...findCycles(facts),
    ...checkNames(facts),
  ];
}

function checkFile(path: string, facts: Facts, sources: Sources): string[] {
  const folder = findFolder(path);
  if (!folder) return [`${path}: not in a known folder`];
  const findings = [...facts.imports].flatMap((specifier) =>
    specifier.startsWith(".") ? checkOwn(path, folder, specifier, sources) : checkPackage(path, folder, specifier),
  );
  if (facts.computedImport) findings.push(`${path}: imports a computed name`);
  if (facts.stdout && !stdoutFolders.includes(folder) && path !== stdoutFile)
    findings.push(`${path}: writes to stdout`);
  if (facts.lines > maxFileLines) findings.push(`${path}: ${facts.lines} lines`);
  const long = facts.functions.filter(({ lines }) => lines > maxFunctionLines);
  findings.push(...long.map(({ startLine, lines }) => `${path}:${startLine}: a function of ${lines} lines`));
  const refused = dirname(path)
    .split("/")
    .find((name) => refusedFolders.includes(name));
  if (refused) findings.push(`${path}: a folder named ${refused}`);
  return findings;
}

/** Grows with every version: a released migration is never changed or removed. */
const growingFolder = "store/migrations";

function checkFolders(sources: Sources): string[] {
  const folders = Map.groupBy(sources.keys(), (path) => dirname(path));
  const large = [...folders].filter(([folder, paths]) => paths.length > maxFolderFiles && folder !== growingFolder);
  return large.map(([folder, paths]) => `${folder}: ${paths.length} files`);
}

function checkOwn(path: string, folder: Folder, specifier: string, sources: Sources): string[] {
  const target = join(dirname(path), specifier);
  if (!sources.has(target)) return [`${path}: imports ${target}, which is not there`];
  const targetFolder = findFolder(target);
  const allowed: readonly Folder[] = direction[folder];
  if (!targetFolder || targetFolder === folder || allowed.includes(targetFolder)) return [];
  return [`${path}: ${folder} must not import ${targetFolder} (${target})`];
}

function checkPackage(path: string, folder: Folder, specifier: string): string[] {
  const only = packagesOf[folder];
  if (only && !only.some((name) => isOf(specifier, name))) return [`${path}: ${folder} must not import ${specifier}`];
  const owner = Object.entries(confined).find(([name]) => isOf(specifier, name));
  return owner && !owner[1].includes(folder) ? [`${path}: ${folder} must not import ${specifier}`] : [];
}

function isOf(specifier: string, name: string): boolean {
  return name.endsWith("/") ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`);
}

function findFolder(path: string): Folder | undefined {
  if (portFiles.includes(path)) return "port";
  const name = path.includes("/") ? path.slice(0, path.indexOf("/")) : path.replace(/\.ts$/, "");
  return Object.keys(direction).find((folder): folder is Folder => folder === name);
}

/** Returns each import cycle once, by depth-first search. */
function findCycles(facts: ReadonlyMap<string, Facts>): string[] {
  const findings: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) findings.push(`cycle: ${[...trail.slice(start), path].join(" → ")}`);
    if (start >= 0 || done.has(path)) return;
    for (const specifier of facts.get(path)?.imports ?? []) {
      if (specifier.startsWith(".")) visit(join(dirname(path), specifier), [...trail, path]);
    }
    done.add(path);
  };
  for (const path of facts.keys()) visit(path, []);
  return findings;
}
