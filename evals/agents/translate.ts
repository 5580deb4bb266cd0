import { isOperationName, operations } from "../../src/contract/index.ts";
import type { ToolDescription } from "../harness/connection.ts";
import { type CallTool, readData, type Step } from "./script.ts";

/** Arguments of this server's list tools that a translated call replaces: by pages, and by whole records. */
const ownArguments = ["all", "select"];

/**
 * Returns whether a step can be made with a server that has one tool for each operation of the OpenAPI document, with
 * the document's parameters and no others.
 */
export function canTranslate({ tool, arguments: args }: Step): boolean {
  if (!isOperationName(tool)) return false;
  const { params, queryObject, body } = operations[tool];
  const known = { ...params.shape, ...queryObject.shape, ...body?.shape };
  const hasOnlyKnown = Object.keys(args).every((name) => ownArguments.includes(name) || Object.hasOwn(known, name));
  // Only this server accepts the key of a form's field in place of its id.
  return hasOnlyKnown && !JSON.stringify(args["select"] ?? "").includes("fields.");
}

/** Makes a call of this server's tool with the tool of a generated server: the same operation, all pages. */
export const callTranslated: CallTool = async ({ connection }, tool, args) => {
  const name = findTool(connection.tools, tool);
  const { all, select: _, ...given } = args;
  if (!all) return readBody(readData(await connection.call(name, given))).data;
  const rows: unknown[] = [];
  let lastEvaluatedKey: string | undefined;
  do {
    const page = { limit: 100, ...(lastEvaluatedKey === undefined ? {} : { lastEvaluatedKey }) };
    const { data, meta } = readBody(readData(await connection.call(name, { ...given, ...page })));
    if (!Array.isArray(data)) return data;
    rows.push(...data);
    lastEvaluatedKey = meta?.lastEvaluatedKey;
  } while (lastEvaluatedKey !== undefined);
  return rows;
};

interface Body {
  readonly data?: unknown;
  readonly meta?: { readonly lastEvaluatedKey?: string };
}

/** Returns the body of a response: of one that is not a success, as the data. */
function readBody(content: unknown): Body {
  const body = content as Body & { readonly success?: boolean };
  return body.success === true ? body : { data: content };
}

/** Finds the tool with the longest name that abbreviates a name word by word: `lst-programs` for `list_programs`. */
function findTool(tools: readonly ToolDescription[], tool: string): string {
  const words = tool.split("_");
  const [found] = tools
    .map(({ name }) => name)
    .filter((name) => {
      const parts = name.split(/[-_]/);
      return parts.length === words.length && parts.every((part, index) => abbreviates(part, words[index] ?? ""));
    })
    .toSorted((a, b) => b.length - a.length);
  if (found === undefined) throw new Error(`The server has no tool for ${tool}`);
  return found;
}

/** Returns whether the letters of a text occur in a word, in their order and from its beginning. */
function abbreviates(text: string, word: string): boolean {
  if (text[0] !== word[0]) return false;
  let at = 0;
  for (const letter of word) if (letter === text[at]) at += 1;
  return at === text.length;
}
