import { parseAst } from "vitest/node";

/** The facts about one file that the rules check. */
export interface Facts {
  readonly lines: number;
  /** The specifiers of all imports, those in types included. */
  readonly imports: ReadonlySet<string>;
  /** True if it imports a module whose name is computed. */
  readonly computedImport: boolean;
  /** True if it uses `process.stdout` or a console method that writes there. */
  readonly stdout: boolean;
  readonly functions: readonly { readonly startLine: number; readonly lines: number }[];
  /** The exports that it declares; re-exports are left out. */
  readonly exports: readonly Export[];
}

export interface Export {
  readonly name: string;
  readonly kind: "function" | "value" | "type";
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const modules = new Set([
  "ImportDeclaration",
  "ExportNamedDeclaration",
  "ExportAllDeclaration",
  "ImportExpression",
  "TSImportType",
]);
const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
const stderrMethods = ["error", "warn", "trace"];

/** Parses one TypeScript file. */
export function read(path: string, text: string): Facts {
  const lineOf = (offset: number) => text.slice(0, offset).split("\n").length;
  const facts = {
    lines: text.trimEnd().split("\n").length,
    imports: new Set<string>(),
    computedImport: false,
    stdout: false,
    functions: [] as { startLine: number; lines: number }[],
    exports: [] as Export[],
  };
  const ast: unknown = parseAst(text, { lang: "ts" }, path);
  for (const node of nodesOf(ast)) {
    if (modules.has(node.type) && node["source"]) {
      const name = literal(node["source"]);
      if (name === undefined) facts.computedImport = true;
      else facts.imports.add(name);
    }
    if (functions.has(node.type)) {
      const startLine = lineOf(node.start);
      facts.functions.push({ startLine, lines: lineOf(node.end) - startLine + 1 });
    }
    if (node.type === "ExportNamedDeclaration" && isNode(node["declaration"])) {
      facts.exports.push(...listDeclared(node["declaration"]));
    }
    if (node.type === "MemberExpression" && writesToStdout(node)) facts.stdout = true;
  }
  return facts;
}

function* nodesOf(value: unknown): Generator<Node> {
  if (typeof value !== "object" || value === null) return;
  if (isNode(value)) yield value;
  for (const child of Object.values(value)) yield* nodesOf(child);
}

/** Returns what one exported declaration introduces. */
function listDeclared(declaration: Node): Export[] {
  const { declarations } = declaration;
  if (!Array.isArray(declarations)) {
    return toExports(declaration["id"], declaration.type === "FunctionDeclaration" ? "function" : "type");
  }
  return declarations
    .filter(isNode)
    .flatMap(({ id, init }) => toExports(id, isNode(init) && functions.has(init.type) ? "function" : "value"));
}

/** Returns one export for an identifier, or none: patterns are not exported here. */
function toExports(id: unknown, kind: Export["kind"]): Export[] {
  return isObject(id) && typeof id["name"] === "string" ? [{ name: id["name"], kind }] : [];
}

function isNode(value: unknown): value is Node {
  return isObject(value) && typeof value["type"] === "string" && "start" in value;
}

function literal(node: unknown): string | undefined {
  return isObject(node) && node["type"] === "Literal" && typeof node["value"] === "string" ? node["value"] : undefined;
}

function writesToStdout({ object, property }: Node): boolean {
  const owner = isObject(object) ? object["name"] : undefined;
  const member = isObject(property) ? (property["name"] ?? property["value"]) : undefined;
  if (owner === "process") return member === "stdout";
  return owner === "console" && !stderrMethods.includes(String(member));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
