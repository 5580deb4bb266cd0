import { readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import * as z from "zod";
import type { App } from "../app.ts";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { type ActName, actDeclarations } from "../contract/desk.ts";
import { Problem } from "../contract/errors.ts";
import { withApp } from "./open.ts";
import { formatTable } from "./table.ts";
import { chooseBusiness } from "./tokens.ts";

type Options = Readonly<Record<string, string | boolean | undefined>>;

/** An option of the command line for a field of an act. */
export interface ActOption {
  readonly flags: string;
  readonly description: string;
  readonly required: boolean;
}

export interface ActCommand {
  readonly name: string;
  readonly act: ActName;
  readonly description: string;
  readonly options: readonly ActOption[];
}

/** By the command's name. Invitations are accepted on their own page. */
const commands = {
  register: "register_applicant",
  draft: "save_draft",
  "attach-file": "attach_file",
  "request-supplement": "request_supplement",
  "submit-supplement": "submit_supplement",
  payment: "record_payment",
  respond: "respond_to_assignment",
  conflict: "attest_conflict",
  review: "submit_review",
  feedback: "prepare_feedback",
} as const satisfies Record<string, ActName>;

/** What is worked out from the file itself. */
const ofTheFile = new Set(["fileName", "sizeBytes", "sha256"]);

const fileOption: ActOption = { flags: "--file <path>", description: "the file to attach", required: true };

/** A command for each act, with an option for each field: `--track-id` for `trackId`; what is not text is JSON. */
export const actCommands: readonly ActCommand[] = Object.entries(commands).map(([name, act]) => {
  const fields = fieldsOf(act).filter((field) => act !== "attach_file" || !ofTheFile.has(field.name));
  const options = fields.map(optionOf);
  return {
    name,
    act,
    description: actDeclarations[act].summary,
    options: act === "attach_file" ? [fileOption, ...options] : options,
  };
});

interface Field {
  readonly name: string;
  readonly schema: z.core.JSONSchema.BaseSchema;
  readonly required: boolean;
}

function fieldsOf(act: ActName): Field[] {
  const { properties = {}, required = [] } = z.toJSONSchema(actDeclarations[act].input, { io: "input" });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema: schema as z.core.JSONSchema.BaseSchema,
    // The type of a file can be told by its name.
    required: required.includes(name) && name !== "contentType",
  }));
}

function optionOf({ name, schema, required }: Field): ActOption {
  const { enum: choices, type, description = "", default: preset } = schema;
  const value =
    choices?.join("|") ?? (type === "string" ? "text" : type === "boolean" ? "true|false" : "json or @file");
  const told = preset === undefined ? description : `${description} Default: ${JSON.stringify(preset)}`.trim();
  return { flags: `${flagOf(name)} <${value}>`, description: told, required };
}

/**
 * Does an act as the one of the product's own people whose it is, and prints the record.
 * @throws UsageError for options that do not fit; Error with the code for what the rules refuse
 */
export async function runAct(config: Config, act: ActName, options: Options): Promise<void> {
  const given = givenOf(act, options);
  await withApp(config, async (app) => {
    if (!app.people) throw new UsageError("The product's own service has a desk of its own");
    const businessId = await chooseBusiness(app.store, text(options, "business"));
    try {
      const more = act === "attach_file" ? await keepFile(app, options) : {};
      print(await app.people.desk.act(businessId, act, { ...given, ...more } as never), options["json"] === true);
    } catch (error) {
      throw error instanceof Problem ? refusalOf(error) : error;
    }
  });
}

function givenOf(act: ActName, options: Options): Record<string, unknown> {
  const fields = fieldsOf(act).flatMap(({ name, schema }) => {
    const value = text(options, name);
    if (value === undefined) return [];
    return [[name, schema.type === "string" || schema.enum ? value : parseJson(name, value)] as const];
  });
  return Object.fromEntries(fields);
}

/** JSON as it is, or `@` and the path of a file of it: other users can see a process's arguments. */
function parseJson(name: string, value: string): unknown {
  try {
    return JSON.parse(value.startsWith("@") ? readFileSync(value.slice(1), "utf8") : value);
  } catch {
    throw new UsageError(`${flagOf(name)} must be JSON, or @ and a file of it`);
  }
}

function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

const maxFileBytes = 100 * 1024 * 1024;

/** Types by the ending of a name; bytes are looked into where they tell. */
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
  const path = text(options, "file") ?? "";
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError("--file must name a file that can be read");
  if (found.size > maxFileBytes) throw new UsageError(`--file must be at most ${maxFileBytes} bytes`);
  const bytes = await readFile(path);
  const fileName = basename(path);
  const contentType =
    text(options, "contentType") ?? types[extname(fileName).toLowerCase()] ?? "application/octet-stream";
  const sha256 = await content.put(bytes, { contentType });
  return { fileName, contentType, sizeBytes: bytes.byteLength, sha256 };
}

/** What does not fit is a mistake of usage; the rules' word is the answer. */
function refusalOf({ code, message, details }: Problem): Error {
  const told = `${code}: ${message}${details === undefined ? "" : ` ${JSON.stringify(details)}`}`;
  return code === "validation_failed" ? new UsageError(told) : new Error(told);
}

function print(record: object, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(record)}\n`);
    return;
  }
  const rows = Object.entries(record).flatMap(([name, value]) =>
    value === null || typeof value === "object" ? [] : [[name, String(value)]],
  );
  process.stdout.write(formatTable(rows));
}

function text(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}
