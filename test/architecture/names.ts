import { basename } from "node:path/posix";
import type { Facts } from "./read.ts";
import { declarations, retiredWords, verbs } from "./verbs.ts";

/** Returns a line for each file name and each exported name that breaks the rules of `STYLE.md`. */
export function checkNames(facts: ReadonlyMap<string, Facts>): string[] {
  return [...[...facts].flatMap(([path, fact]) => checkFile(path, fact)), ...checkUnique(facts)];
}

function checkFile(path: string, { exports }: Facts): string[] {
  const fileWord = findRetiredWord(basename(path, ".ts"));
  const findings = fileWord ? [`${path}: the file's name has the retired word "${fileWord}"`] : [];
  for (const { name, kind } of exports) {
    const word = findRetiredWord(name);
    if (word) findings.push(`${path}: ${name} has the retired word "${word}"`);
    if (kind === "function" && !startsWithVerb(name)) findings.push(`${path}: ${name} does not start with a verb`);
  }
  return findings;
}

function startsWithVerb(name: string): boolean {
  return isOperation(name) || declarations.has(name) || verbs.has(splitWords(name)[0] ?? "");
}

function findRetiredWord(name: string): string | undefined {
  return splitWords(name).find((word) => retiredWords.has(word));
}

/** Returns the lower-case words of a name in camel, snake or kebab case. */
function splitWords(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[_-]/);
}

/** Operations are declared in `contract` and handled in `service` under one name; every migration exports the same ones. */
function checkUnique(facts: ReadonlyMap<string, Facts>): string[] {
  const owners = new Map<string, Set<string>>();
  for (const [path, { exports }] of facts) {
    if (path.startsWith("store/migrations/")) continue;
    for (const { name } of exports) {
      if (!isOperation(name)) owners.set(name, (owners.get(name) ?? new Set()).add(path));
    }
  }
  return [...owners]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name} is exported by ${[...paths].sort().join(" and ")}`);
}

function isOperation(name: string): boolean {
  return /^[a-z]+(_[a-z]+)+$/.test(name);
}
