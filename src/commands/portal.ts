import { readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import type { App } from "../app/app.ts";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { Problem } from "../contract/errors.ts";
import type { PortalActionName } from "../contract/portal.ts";
import { withApp } from "./open-app.ts";
import { listFields, toFlag } from "./portal-options.ts";
import { getTextOption, type Options, print, printJson } from "./terminal/output.ts";
import { formatColumns } from "./terminal/table.ts";
import { chooseBusiness } from "./tokens/tokens.ts";

/**
 * Performs a portal action as the person whose action it is, and prints the record.
 * @throws UsageError for options that do not fit; Error with the problem's code when the action is refused
 */
export async function runPortalAction(config: Config, act: PortalActionName, options: Options): Promise<void> {
  const given = collectInput(act, options);
  await withApp(config, async (app) => {
    if (!app.portalServices) throw new UsageError("The product's own service has a portal of its own");
    const businessId = await chooseBusiness(app.store, getTextOption(options, "business"));
    try {
      const more = act === "attach_file" ? await keepFile(app, options) : {};
      show(await app.portalServices.portal.act(businessId, act, { ...given, ...more } as never), options);
    } catch (error) {
      throw error instanceof Problem ? toCommandError(error) : error;
    }
  });
}

function collectInput(act: PortalActionName, options: Options): Record<string, unknown> {
  const fields = listFields(act).flatMap(({ name, schema }) => {
    const value = getTextOption(options, name);
    if (value === undefined) return [];
    return [[name, schema.type === "string" || schema.enum ? value : parseJson(name, value)] as const];
  });
  return Object.fromEntries(fields);
}

/** Parses JSON, or reads it from the file named after `@`, because other users can see a process's arguments. */
function parseJson(name: string, value: string): unknown {
  try {
    return JSON.parse(value.startsWith("@") ? readFileSync(value.slice(1), "utf8") : value);
  } catch {
    throw new UsageError(`${toFlag(name)} must be JSON, or @ and a file of it`);
  }
}

const maxFileBytes = 100 * 1024 * 1024;

/** Content types by file extension. The content is checked too, where the type has a signature. */
const types: Readonly<Record<string, string>> = {
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".txt": "text/plain",
  ".csv": "text/csv",
  ".json": "application/json",
  ".zip": "application/zip",
  ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ".odt": "application/vnd.oasis.opendocument.text",
  ".ods": "application/vnd.oasis.opendocument.spreadsheet",
};

async function keepFile({ content }: App, options: Options) {
  const path = getTextOption(options, "file") ?? "";
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError("--file must name a file that can be read");
  if (found.size > maxFileBytes) throw new UsageError(`--file must be at most ${maxFileBytes} bytes`);
  const bytes = await readFile(path);
  const fileName = basename(path);
  const contentType =
    getTextOption(options, "contentType") ?? types[extname(fileName).toLowerCase()] ?? "application/octet-stream";
  const sha256 = await content.put(bytes, { contentType });
  return { fileName, contentType, sizeBytes: bytes.byteLength, sha256 };
}

/** Converts invalid input to a usage error, and other problems to an error with their code. */
function toCommandError({ code, message, details }: Problem): Error {
  const text = `${code}: ${message}${details === undefined ? "" : ` ${JSON.stringify(details)}`}`;
  return code === "validation_failed" ? new UsageError(text) : new Error(text);
}

function show(record: object, options: Options): void {
  if (options["json"]) {
    printJson(record);
    return;
  }
  const rows = Object.entries(record).flatMap(([name, value]) =>
    value === null || typeof value === "object" ? [] : [[name, String(value)]],
  );
  print(formatColumns(rows));
}
