import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";
import type * as z from "zod";
import { type AnySchema, getFields, getRowSchema, unwrap } from "../contract/definition/schema-visitor.ts";
import { findUnstorable } from "../contract/definition/storable.ts";
import type { Issue } from "../contract/errors.ts";
import { configLimits, ProgramConfig } from "../contract/set-up/program-config.ts";
import type { Mistake } from "../contract/set-up/set-up-plan.ts";
import { suggestWord } from "../lib/did-you-mean.ts";
import { isObject } from "../lib/json-value.ts";
import { checkReferences } from "./check-references.ts";
import { InvalidImport } from "./mistakes.ts";

/** A valid file, and the places of its values. */
export interface ParsedConfig {
  readonly config: ProgramConfig;
  /** Returns issues with the lines and columns of what they name. */
  locate(issues: readonly Issue[]): Mistake[];
}

/**
 * Parses the YAML or JSON text of a programme and validates it.
 * @throws InvalidImport with every mistake
 */
export function parseProgramConfig(text: string): ParsedConfig {
  const lines = new LineCounter();
  const document = readDocument(text, lines);
  const locate = (issues: readonly Issue[]) =>
    issues.slice(0, maxLocated).map((issue) => ({ ...issue, ...findPlace(document, lines, issue) }));
  const value: unknown = document.toJS();
  const unstorable = listUnstorable(value);
  if (unstorable.length > 0) throw new InvalidImport(locate(unstorable));
  const parsed = ProgramConfig.safeParse(value);
  if (!parsed.success) throw new InvalidImport(locate(parsed.error.issues.flatMap(toIssues)));
  const issues = checkReferences(parsed.data);
  if (issues.length > 0) throw new InvalidImport(locate(issues));
  return { config: parsed.data, locate };
}

/** More mistakes than anyone corrects at once. Each costs a search for its place. */
const maxLocated = 200;

/** Reads one document without aliases, whose expansion could fill the memory. */
function readDocument(text: string, lines: LineCounter): Document {
  const reject = (message: string, offset = 0): never => {
    throw new InvalidImport([{ path: "", code: "invalid_yaml", message, ...toPlace(lines, offset) }]);
  };
  if (Buffer.byteLength(text) > configLimits.fileBytes) {
    reject(`The file is larger than ${configLimits.fileBytes} bytes`);
  }
  const deep = findDeepNesting(text);
  if (deep !== undefined) {
    // The parser, which counts lines, has not run.
    lines.addNewLine(0);
    for (const { index } of text.slice(0, deep).matchAll(/\n/g)) lines.addNewLine(index + 1);
    reject("Nested too deeply", deep);
  }
  // The library's own check for unique keys takes quadratic time.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const faults = [...document.errors, ...document.warnings].map(({ message, pos: [offset] }) => ({ message, offset }));
  visit(document, {
    Alias: (_, { range }) => reject("Aliases are not supported. Write the value again", range?.[0]),
    Map: (_, map) => void faults.push(...listKeyFaults(map)),
  });
  if (faults.length === 0) return document;
  throw new InvalidImport(
    faults.map(({ message, offset }) => ({ path: "", code: "invalid_yaml", message, ...toPlace(lines, offset) })),
  );
}

/** Finds keys that are not text, and keys that a mapping has twice. */
function listKeyFaults({ items }: YAMLMap): { message: string; offset: number }[] {
  const seen = new Set<string>();
  return items.flatMap(({ key }) => {
    const offset = isNode(key) ? (key.range?.[0] ?? 0) : 0;
    if (!isScalar(key) || typeof key.value !== "string")
      return [{ message: "Expected a name before the colon", offset }];
    if (seen.has(key.value)) return [{ message: `${key.value} is named twice`, offset }];
    seen.add(key.value);
    return [];
  });
}

/** More levels than a valid file has. The parser's stack has room for many more. */
const maxDepth = 100;
const deepIndent = new RegExp(`^(?:[ \\t]|[-?:](?=[ \\t])){${2 * maxDepth},}`, "m");

/** Returns the offset at which brackets or indentation are nested too deeply for the parser, which is recursive. */
function findDeepNesting(text: string): number | undefined {
  let depth = 0;
  for (const { 0: bracket, index } of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === "[" || bracket === "{" ? 1 : -1;
    if (depth > maxDepth) return index;
  }
  return deepIndent.exec(text)?.index;
}

/** Lists the parts of a file that cannot be stored, one mistake for each part. */
function listUnstorable(value: unknown): Issue[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, section]) => {
    const parts = Array.isArray(section) ? section.map((part, index) => [`${name}.${index}`, part]) : [[name, section]];
    return parts.flatMap(([path, part]) => {
      const issue = findUnstorable(part);
      return issue ? [{ ...issue, path: [path, issue.path].filter(Boolean).join(".") }] : [];
    });
  });
}

/** Returns zod's issue with names like `tracks.0.name`, and one for each unknown name. */
function toIssues(issue: z.core.$ZodIssue): Issue[] {
  const { code, message } = issue;
  const path = issue.path.map(String);
  if (issue.code !== "unrecognized_keys") return [{ path: path.join("."), code, message }];
  const known = listKnownNames(ProgramConfig, path);
  return issue.keys.slice(0, maxLocated).map((key) => ({
    path: [...path, key].join("."),
    code,
    message: `Unknown name.${suggestWord(key, known) || ` Expected one of ${known.join(", ")}`}`,
  }));
}

/** Returns the names that an object of the file may have. */
function listKnownNames(schema: AnySchema, path: readonly string[]): string[] {
  const [name, ...rest] = path;
  const fields = getFields(schema);
  if (name === undefined) return Object.keys(fields ?? {});
  const inner = fields ? fields[name] : getRowSchema(schema);
  return inner ? listKnownNames(unwrap(inner), rest) : [];
}

/** Returns the line and column of a value or an unknown name, or else those of the nearest value around it. */
function findPlace(document: Document, lines: LineCounter, { path, code }: Issue): Pick<Mistake, "line" | "column"> {
  let node: unknown = document.contents;
  let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
  for (const name of path.split(".")) {
    if (isMap(node)) {
      const pair: Pair | undefined = node.items.find(({ key }) => isScalar(key) && key.value === name);
      if (isNode(pair?.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair?.value;
    } else if (isSeq(node)) {
      node = node.items[Number(name)];
      if (isNode(node)) offset = node.range?.[0] ?? offset;
    }
  }
  const isName = code === "unrecognized_keys";
  return toPlace(lines, isNode(node) && !isName ? (node.range?.[0] ?? offset) : offset);
}

function toPlace(lines: LineCounter, offset: number): Pick<Mistake, "line" | "column"> {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}
