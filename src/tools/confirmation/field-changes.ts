import { isDeepStrictEqual } from "node:util";
import { type CallName, type OperationName, operations } from "../../contract/index.ts";
import { isObject } from "../../lib/json-value.ts";
import type { UpstreamCall } from "../../upstream/port.ts";
import type { ToolSession } from "../session.ts";
import { type LongTexts, maxTextChars, quoteUntrusted } from "./preview-text.ts";

type Row = Readonly<Record<string, unknown>>;

/** The reads of the records that updates with a question change. */
const reads: Partial<Record<CallName, OperationName>> = {
  update_submission: "get_submission",
  update_program: "get_program",
};

/** Arguments that the question shows in other lines. */
const shownElsewhere = new Set(["version", "reason", "state", "lifecycleStatus"]);

/**
 * Describes the fields that an update sets: the value that the caller reads now, as far as it may, and the new one. The
 * read is the caller's own, so that the question shows nothing else than its other answers.
 */
export async function describeFieldChanges(
  { upstream }: ToolSession,
  { operation, input, token, identity, requestId, signal }: UpstreamCall,
  longTexts: LongTexts,
): Promise<string[]> {
  const read = reads[operation];
  const ids = Object.keys(operations[operation].params.shape);
  const given = Object.entries(input).filter(([name]) => !ids.includes(name) && !shownElsewhere.has(name));
  if (read === undefined || given.length === 0) return [];
  const head = { token, identity, requestId, signal };
  const idInput = Object.fromEntries(ids.map((name) => [name, input[name]]));
  const answer = await upstream.call({ ...head, operation: read, input: idInput });
  const before = answer.ok ? (answer.data as Row) : undefined;
  const changes = given.flatMap(([name, value]) => listChanges(name, before?.[name], value, before === undefined));
  for (const { path, after } of changes) longTexts.addText(`The whole value of ${path}`, toText(after));
  const lines = changes.map(({ path, before, after }) => `${path}: ${before}→ ${formatValue(after)}`);
  return longTexts.shortenLines(`All ${lines.length} changed fields`, lines);
}

interface FieldChange {
  readonly path: string;
  /** The present value with a space after it; empty if the caller may not read it. */
  readonly before: string;
  readonly after: unknown;
}

function listChanges(path: string, before: unknown, after: unknown, isHidden: boolean): FieldChange[] {
  if (isObject(after)) {
    const inner = isObject(before) ? before : {};
    return Object.entries(after).flatMap(([name, value]) =>
      listChanges(`${path} › ${name}`, inner[name], value, isHidden),
    );
  }
  if (isHidden) return [{ path, before: "", after }];
  return isDeepStrictEqual(before ?? null, after) ? [] : [{ path, before: `${formatValue(before)} `, after }];
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function formatValue(value: unknown): string {
  if (value === undefined || value === null || value === "") return "empty";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = toText(value);
  // Without its letters, no part of a time looks like the scheme of an address.
  const time = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/i.exec(text);
  return time ? `${time[1]} ${time[2]} UTC` : quoteUntrusted(text, maxTextChars);
}
