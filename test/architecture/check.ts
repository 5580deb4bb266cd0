import { dirname, join } from "node:path/posix";
import {
  confined,
  direction,
  maxFileLines,
  maxFunctionLines,
  packagesOf,
  portFiles,
  type Room,
  refusedFolders,
  speakers,
  wireFile,
} from "./direction.ts";
import { type Facts, read } from "./read.ts";

/** Source texts by their path inside `src`. */
export type Sources = ReadonlyMap<string, string>;

/** Everything that breaks a rule of `direction.ts`, a line each. */
export function check(sources: Sources): string[] {
  const facts = new Map([...sources].map(([path, text]) => [path, read(path, text)]));
  return [...[...facts].flatMap(([path, fact]) => checkFile(path, fact, sources)), ...cycles(facts)];
}

function checkFile(path: string, facts: Facts, sources: Sources): string[] {
  const room = roomOf(path);
  if (!room) return [`${path}: not in a known room`];
  const found = [...facts.imports].flatMap((specifier) =>
    specifier.startsWith(".") ? checkOwn(path, room, specifier, sources) : checkPackage(path, room, specifier),
  );
  if (facts.computedImport) found.push(`${path}: imports a computed name`);
  if (facts.stdout && !speakers.includes(room) && path !== wireFile) found.push(`${path}: writes to stdout`);
  if (facts.lines > maxFileLines) found.push(`${path}: ${facts.lines} lines`);
  const long = facts.functions.filter(({ lines }) => lines > maxFunctionLines);
  found.push(...long.map(({ startLine, lines }) => `${path}:${startLine}: a function of ${lines} lines`));
  const folder = dirname(path)
    .split("/")
    .find((name) => refusedFolders.includes(name));
  if (folder) found.push(`${path}: a folder named ${folder}`);
  return found;
}

function checkOwn(path: string, room: Room, specifier: string, sources: Sources): string[] {
  const target = join(dirname(path), specifier);
  if (!sources.has(target)) return [`${path}: imports ${target}, which is not there`];
  const targetRoom = roomOf(target);
  const allowed: readonly Room[] = direction[room];
  if (!targetRoom || targetRoom === room || allowed.includes(targetRoom)) return [];
  return [`${path}: ${room} must not import ${targetRoom} (${target})`];
}

function checkPackage(path: string, room: Room, specifier: string): string[] {
  const only = packagesOf[room];
  if (only && !only.some((name) => isOf(specifier, name))) return [`${path}: ${room} must not import ${specifier}`];
  const owner = Object.entries(confined).find(([name]) => isOf(specifier, name));
  return owner && !owner[1].includes(room) ? [`${path}: ${room} must not import ${specifier}`] : [];
}

function isOf(specifier: string, name: string): boolean {
  return name.endsWith("/") ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`);
}

function roomOf(path: string): Room | undefined {
  if (portFiles.includes(path)) return "port";
  const name = path.includes("/") ? path.slice(0, path.indexOf("/")) : path.replace(/\.ts$/, "");
  return Object.keys(direction).find((room): room is Room => room === name);
}

/** Import cycles, each once, by depth-first search. */
function cycles(facts: ReadonlyMap<string, Facts>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) found.push(`cycle: ${[...trail.slice(start), path].join(" → ")}`);
    if (start >= 0 || done.has(path)) return;
    for (const specifier of facts.get(path)?.imports ?? []) {
      if (specifier.startsWith(".")) visit(join(dirname(path), specifier), [...trail, path]);
    }
    done.add(path);
  };
  for (const path of facts.keys()) visit(path, []);
  return found;
}
