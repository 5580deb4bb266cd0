import { limits } from "../../contract/access/limits.ts";
import { maxLimit, type PageMeta } from "../../contract/definition/page.ts";
import { measureRows } from "../../lib/json-cache.ts";
import type { Answer, Failure, Success } from "../../upstream/port.ts";
import { shortenPage } from "../../upstream/shorten-page.ts";
import type { CallControl } from "../call-control.ts";
import { formatPaths } from "./brief.ts";
import { createFieldOmitter } from "./omit-fields.ts";
import type { RowSizes } from "./row-sizes.ts";

type Row = Readonly<Record<string, unknown>>;
type Input = Readonly<Record<string, unknown>>;

export interface PageOptions extends CallControl {
  /** Requests one page from the upstream. */
  readonly requestPage: (input: Input) => Promise<Answer>;
  /** Returns the note on a page that ended early, after which no further pages are read. */
  readonly findBoundNote?: () => string | undefined;
  /** Converts a row to what the caller sees. */
  readonly toVisibleRow: (row: Row) => Row;
  readonly maxBytes: number;
  /** Estimates how many rows fit, so that no more are requested. Absent if every page is requested as it was asked for. */
  readonly rowSizes?: RowSizes | undefined;
  /** Reads every page, up to `limits.gatheredRows`. */
  readonly all: boolean;
  /** The fields that stay if others are left out to make more rows fit. Absent if no field may be left out. */
  readonly requiredFields?: readonly string[] | undefined;
}

export interface Pages {
  readonly ok: true;
  readonly rows: readonly Row[];
  readonly page: PageMeta;
  readonly notes: readonly string[];
  /** The number of rows, if `all` could not show every one. */
  readonly total?: string | undefined;
}

/** The share of a result that rows have to fill, so that no further ones are requested for the rest. */
const filledShare = 0.75;

/**
 * Reads one page of a list, or with `all` one page after another. If the rows do not fit, fields are left out where that
 * is allowed, else rows: the result then ends between rows, and its cursor continues with the next row.
 */
export async function readPages(input: Input, options: PageOptions): Promise<Pages | Failure> {
  const { all, maxBytes, requiredFields, progress, signal } = options;
  const omitter = all && requiredFields ? createFieldOmitter(requiredFields) : undefined;
  const toVisibleRow = (row: Row) => {
    const visible = options.toVisibleRow(row);
    return omitter ? omitter.toFittingRow(visible) : visible;
  };
  const fullNote = `A result holds ${maxBytes} bytes. Select fewer fields to get more rows.`;
  let rows: readonly Row[] = [];
  let next: string | undefined;
  const end = (cursor: string | undefined, reason?: string, total?: string) =>
    createPages(rows, cursor, { reason, total, omitted: omitter?.listOmitted() ?? [] });
  for (;;) {
    const { limit, isShorter } = chooseLimit(input, rows, options);
    const pageRequest = createPageInput(input, limit, next);
    const answer = await options.requestPage(pageRequest);
    if (!answer.ok)
      return rows.length === 0 ? answer : end(next, `${answer.problem.message} ${answer.problem.remediation}`);
    const read = answer.data as readonly Row[];
    rows = omitter?.fit([...rows, ...read.map(options.toVisibleRow)], maxBytes).slice(0, rows.length) ?? rows;
    const fitted = await fitPage(pageRequest, answer, rows, { ...options, toVisibleRow });
    if ("ok" in fitted) return rows.length === 0 ? fitted : end(next, fitted.problem.remediation);
    rows = [...rows, ...fitted.rows];
    if (fitted.isTruncated) {
      const cursor = fitted.rows.length === 0 ? next : fitted.next;
      const unread = { rows: rows.length + read.length - fitted.rows.length, next: answer.page?.lastEvaluatedKey };
      return end(cursor, fullNote, all ? await countRows(input, unread, options) : undefined);
    }
    next = answer.page?.lastEvaluatedKey;
    const boundNote = options.findBoundNote?.();
    if (next === undefined || !(all || isShorter) || boundNote !== undefined) return end(next, boundNote);
    const isFilled = !answer.cursorAfter && measureRows(rows).bytes >= maxBytes * filledShare;
    if (isShorter && isFilled) return end(next, fullNote);
    if (rows.length >= limits.gatheredRows) return end(next, `One call returns at most ${limits.gatheredRows} rows.`);
    if (signal.aborted) return end(next, "The call was cancelled.");
    await progress(rows.length, `${rows.length} rows`);
  }
}

/** Chooses the number of rows to request: as many as are wanted, or about as many as fit. */
function chooseLimit(input: Input, rows: readonly Row[], { all, maxBytes, rowSizes }: PageOptions) {
  const asked = input["limit"];
  if (all) return { limit: Math.min(maxLimit, limits.gatheredRows - rows.length), isShorter: false };
  // The service refuses any other number.
  if (!rowSizes || !Number.isInteger(asked) || Number(asked) < 1) return { limit: asked, isShorter: false };
  const wanted = Math.min(Number(asked), maxLimit) - rows.length;
  const limit = rowSizes.chooseLimit(wanted, maxBytes - measureRows(rows).bytes);
  return { limit, isShorter: limit < wanted };
}

/** Counts the rows of a list to its end, or as far as one call may read. */
async function countRows(
  input: Input,
  { rows, next }: { readonly rows: number; readonly next: string | undefined },
  { requestPage, signal }: PageOptions,
): Promise<string> {
  let count = rows;
  let cursor = next;
  while (cursor !== undefined && count < limits.gatheredRows && !signal.aborted) {
    const answer = await requestPage(createPageInput(input, maxLimit, cursor));
    if (!answer.ok) break;
    count += (answer.data as readonly Row[]).length;
    cursor = answer.page?.lastEvaluatedKey;
  }
  return cursor === undefined ? String(count) : `at least ${count}`;
}

interface FittedPage {
  readonly rows: readonly Row[];
  readonly isTruncated: boolean;
  /** The cursor after these rows, if the page was truncated. */
  readonly next: string | undefined;
}

/** Maximum number of requests for a page that changes during the reads. */
const maxAttempts = 3;

/**
 * Returns the rows of a page that fit beside the rows before it; without any, the first one whatever its size.
 */
async function fitPage(
  pageRequest: Input,
  page: Success,
  before: readonly Row[],
  { requestPage, toVisibleRow, maxBytes, rowSizes }: PageOptions,
): Promise<FittedPage | Failure> {
  const roomBytes = before.length === 0 ? maxBytes : maxBytes - measureRows(before).bytes + 1;
  const atLeastOne = before.length === 0;
  const shown = (page.data as readonly Row[]).map(toVisibleRow);
  let count = measureRows(shown, roomBytes).count;
  rowSizes?.learn(shown.slice(0, count + 1), page);
  if (count === shown.length) return { rows: shown, isTruncated: false, next: undefined };
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    if (atLeastOne) count = attempt + 1 < maxAttempts ? Math.max(count, 1) : 1;
    if (count === 0) break;
    const answer = await shortenPage(page, count, () => requestPage({ ...pageRequest, limit: count }));
    if (!answer.ok) return answer;
    const rows = (answer.data as Row[]).map(toVisibleRow);
    const fits = measureRows(rows, roomBytes).count;
    if (fits >= rows.length || (atLeastOne && count === 1))
      return { rows, isTruncated: true, next: answer.page?.lastEvaluatedKey };
    count = fits;
  }
  return { rows: [], isTruncated: true, next: undefined };
}

/** Returns the arguments for the next page. `cursor` is an alias of `lastEvaluatedKey`. */
function createPageInput({ cursor, ...input }: Input, limit: unknown, next: string | undefined): Input {
  const first = { ...input, ...(cursor === undefined ? {} : { cursor }), limit };
  return next === undefined ? first : { ...input, limit, lastEvaluatedKey: next };
}

interface PagesEnd {
  /** Why the rows end before the list does. */
  readonly reason: string | undefined;
  readonly total: string | undefined;
  readonly omitted: readonly string[];
}

function createPages(rows: readonly Row[], next: string | undefined, { reason, total, omitted }: PagesEnd): Pages {
  const shown = total === undefined ? `${rows.length} rows` : `${rows.length} of ${total} rows`;
  const notes = [
    ...(next !== undefined && reason !== undefined
      ? [`${reason} ${shown} are shown; continue with lastEvaluatedKey and the same filters.`]
      : []),
    ...(omitted.length > 0
      ? [`Omitted from every row, so that more rows fit: ${formatPaths(omitted)}. Select them to get them.`]
      : []),
  ];
  return { ok: true, rows, page: createPageMeta(next), notes, total };
}

function createPageMeta(next: string | undefined): PageMeta {
  return next === undefined ? { hasMore: false } : { hasMore: true, lastEvaluatedKey: next };
}
