import { isDeepStrictEqual } from "node:util";
import type { JSONPath, ParseError } from "jsonc-parser";
import { UsageError } from "../../config/usage-error.ts";
import type { Host, Json, JsonObject, Settings } from "./host.ts";

/** One value to set or remove at a path. */
interface Edit {
  readonly path: readonly (string | number)[];
  readonly value: Json | undefined;
}

/** Keys that describe the connection to a server. All other keys of an entry belong to its user. */
const ownKeys = [
  "type",
  "command",
  "args",
  "env",
  "env_vars",
  "url",
  "serverUrl",
  "httpUrl",
  "headers",
  "http_headers",
  "bearer_token_env_var",
];

/** In these maps, only keys of this program are replaced. */
const maps: Readonly<Record<string, (key: string) => boolean>> = {
  env: (key) => key.startsWith("PROGRAMME_") || key === "AUTHORIZATION",
  headers: (key) => key.toLowerCase() === "authorization",
  http_headers: (key) => key.toLowerCase() === "authorization",
};

/** Keys of the other transport. */
const ofStdio = ["command", "args", "env", "env_vars"];

/**
 * Merges a server into the text of a settings file, and keeps comments, order and everything else.
 * @param text - undefined if there is no file yet
 * @throws UsageError when the host itself could not parse the text
 */
export async function mergeSettings(
  host: Host,
  text: string | undefined,
  name: string,
  settings: Settings,
): Promise<string> {
  const format = await (host.format === "toml" ? loadTomlFormat() : loadJsonFormat());
  const before = text === undefined || text.trim() === "" ? {} : format.parse(text);
  const edits = listEdits(host, getObjectAt(before, []), name, settings);
  if (edits.length === 0) return text ?? "";
  const after = edits.reduce<Json>(applyEdit, before);
  const merged = await format.edit(text ?? "", after, edits);
  // Guards against mistakes of the libraries with unusual texts: only the edits may have changed.
  if (!isDeepStrictEqual(format.parse(merged), after)) throw new Error("The settings could not be changed safely");
  return merged;
}

function listEdits(host: Host, before: JsonObject, name: string, { entry, inputs = [] }: Settings): Edit[] {
  const path = [host.section, name];
  getObjectAt(before, [host.section]);
  const existing = getObjectAt(before, path);
  const wanted: Edit[] =
    getValueAt(before, path) === undefined
      ? [{ path, value: entry }]
      : ownKeys.map((key) => ({ path: [...path, key], value: mergeEntry(key, existing[key], entry) }));
  const known = before["inputs"] ?? [];
  if (inputs.length > 0 && !Array.isArray(known)) throw createNotObjectError(["inputs"]);
  const questions = inputs.map((input): Edit => {
    const index = (known as readonly Json[]).findIndex((each) => isObject(each) && each["id"] === input.id);
    return { path: ["inputs", index < 0 ? (known as readonly Json[]).length : index], value: { ...input } };
  });
  return [...questions, ...wanted].filter((edit) => !isDeepStrictEqual(getValueAt(before, edit.path), edit.value));
}

function mergeEntry(key: string, existing: Json | undefined, entry: JsonObject): Json | undefined {
  const isOwn = maps[key];
  if (isOwn === undefined || !isObject(existing)) return entry[key];
  if (ofStdio.includes(key) !== "command" in entry) return entry[key];
  const foreign = Object.entries(existing).filter(([each]) => !isOwn(each));
  const own = entry[key];
  const merged = { ...Object.fromEntries(foreign), ...(isObject(own) ? own : {}) };
  return Object.keys(merged).length === 0 ? undefined : merged;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function getObjectAt(root: Json, path: readonly string[]): JsonObject {
  const value = getValueAt(root, path) ?? {};
  if (!isObject(value)) throw createNotObjectError(path);
  return value;
}

function createNotObjectError(path: readonly string[]): UsageError {
  return new UsageError(`the settings are left as they are: ${path.join(".") || "the file"} is not what it should be`);
}

function getValueAt(root: Json, path: readonly (string | number)[]): Json | undefined {
  return path.reduce<Json | undefined>((value, key) => {
    if (Array.isArray(value)) return typeof key === "number" ? (value as readonly Json[])[key] : undefined;
    return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }, root);
}

function applyEdit(root: Json | undefined, { path, value }: Edit): Json {
  const [key, ...rest] = path;
  if (key === undefined) return value as Json;
  if (typeof key === "number") {
    const list = Array.isArray(root) ? [...root] : [];
    list[key] = applyEdit(list[key], { path: rest, value });
    return list;
  }
  const object = isObject(root) ? root : {};
  if (rest.length === 0 && value === undefined) {
    const { [key]: _, ...others } = object;
    return others;
  }
  return { ...object, [key]: applyEdit(object[key], { path: rest, value }) };
}

interface Format {
  parse(text: string): Json;
  edit(text: string, after: Json, edits: readonly Edit[]): string | Promise<string>;
}

/** Converts TOML objects, which have no prototype, to plain objects. Dates stay unchanged. */
function toPlainJson(value: Json): Json {
  if (Array.isArray(value)) return value.map(toPlainJson);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toPlainJson(each)]));
}

/** Applies edits to an empty object. */
function createFromEdits(edits: readonly Edit[]): JsonObject {
  return getObjectAt(edits.reduce<Json>(applyEdit, {}), []);
}

/** Formats servers as TOML, each in a table of its own. */
export async function formatServerTable(content: JsonObject): Promise<string> {
  const { stringify } = await import("@decimalturn/toml-patch");
  // The parent table has no content.
  return stringify(content, { inlineTableStart: 2, bracketSpacing: false }).replace(/^\[\w+\]\n+(?=\[)/, "");
}

/** Loads the format of JSON with comments and trailing commas, which some hosts allow. */
async function loadJsonFormat(): Promise<Format> {
  const { applyEdits, modify, parse, printParseErrorCode } = await import("jsonc-parser");
  return {
    parse(text) {
      const errors: ParseError[] = [];
      const value: unknown = parse(text.replace(/^\uFEFF/, ""), errors, { allowTrailingComma: true });
      const [first] = errors;
      if (!first) return value as Json;
      const line = text.slice(0, first.offset).split("\n").length;
      throw new UsageError(
        `the settings are left as they are: line ${line} is not valid JSON (${printParseErrorCode(first.error)})`,
      );
    },
    edit(begun, after, edits) {
      if (begun.trim() === "") return `${JSON.stringify(after, null, 2)}\n`;
      const formattingOptions = {
        insertSpaces: !/^\t/m.test(begun),
        tabSize: /^( +)\S/m.exec(begun)?.[1]?.length ?? 2,
        eol: begun.includes("\r\n") ? "\r\n" : "\n",
      };
      return edits.reduce((current, { path, value }) => {
        const isArrayInsertion =
          typeof path.at(-1) === "number" && getValueAt(parse(current) as Json, path) === undefined;
        return applyEdits(current, modify(current, path as JSONPath, value, { formattingOptions, isArrayInsertion }));
      }, begun);
    },
  };
}

async function loadTomlFormat(): Promise<Format> {
  const { parse, patch } = await import("@decimalturn/toml-patch");
  const parseJsonc = (text: string): Json | undefined => {
    try {
      return toPlainJson(parse(text) as Json);
    } catch {
      return undefined;
    }
  };
  return {
    parse(text) {
      try {
        return toPlainJson(parse(text) as Json);
      } catch (error) {
        const [reason = ""] = String((error as Error).message).split("\n");
        throw new UsageError(`the settings are left as they are: they are not valid TOML (${reason})`);
      }
    },
    async edit(text, after, edits) {
      const eol = text.includes("\r\n") ? "\r\n" : "\n";
      const begun = text.trim() === "" ? "" : `${text.trimEnd()}${eol}${eol}`;
      // A new server gets a table of its own at the end of the file, if that changes nothing else.
      const appended = `${begun}${(await formatServerTable(createFromEdits(edits))).replaceAll("\n", eol)}`;
      return isDeepStrictEqual(parseJsonc(appended), after) ? appended : patch(text, after);
    },
  };
}
