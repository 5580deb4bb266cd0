import { limits } from "../../contract/access/limits.ts";
import { maxLimit, type PageMeta } from "../../contract/definition/page.ts";
import { countRowsThatFit, measureJsonBytes } from "../../lib/json-cache.ts";
import type { Answer, Failure } from "../../upstream/port.ts";
import type { CallControl } from "../call-control.ts";

type Row = Readonly<Record<string, unknown>>;
type Input = Readonly<Record<string, unknown>>;

export interface PageOptions extends CallControl {
  /** Requests one page from the upstream. */
  readonly requestPage: (input: Input) => Promise<Answer>;
  /** Converts a row to what the caller sees. */
  readonly toVisibleRow: (row: Row) => Row;
  readonly maxBytes: number;
  /** Reads every page, up to `limits.gatheredRows`. */
  readonly all: boolean;
}

export interface Pages {
  readonly ok: true;
  readonly rows: readonly Row[];
  readonly page: PageMeta;
  readonly notes: readonly string[];
}

/**
 * Reads one page of a list, or with `all` one page after another, as far as they fit. The result ends between rows, and
 * its cursor continues with the next row.
 */
export async function readPages(input: Input, options: PageOptions): Promise<Pages | Failure> {
  const { all, requestPage, maxBytes, progress, signal } = options;
  const rows: Row[] = [];
  let next: string | undefined;
  let roomBytes = maxBytes;
  for (;;) {
    const pageRequest = createPageInput(
      input,
      all ? Math.min(maxLimit, limits.gatheredRows - rows.length) : input["limit"],
      next,
    );
    const answer = await requestPage(pageRequest);
    if (!answer.ok)
      return rows.length === 0
        ? answer
        : createIncompletePages(rows, next, `${answer.problem.message} ${answer.problem.remediation}`);
    const fitted = await fitPage(pageRequest, answer.data as Row[], roomBytes, rows.length === 0, options);
    if ("ok" in fitted)
      return rows.length === 0 ? fitted : createIncompletePages(rows, next, fitted.problem.remediation);
    rows.push(...fitted.rows);
    if (fitted.isTruncated) {
      const cursor = fitted.rows.length === 0 ? next : fitted.next;
      return createIncompletePages(
        rows,
        cursor,
        `A result holds ${maxBytes} bytes. Select fewer fields to get more rows.`,
      );
    }
    next = answer.page?.lastEvaluatedKey;
    if (next === undefined || !all) return { ok: true, rows, page: createPageMeta(next), notes: [] };
    if (rows.length >= limits.gatheredRows)
      return createIncompletePages(rows, next, `One call returns at most ${limits.gatheredRows} rows.`);
    if (signal.aborted) return createIncompletePages(rows, next, "The call was cancelled.");
    roomBytes -= measureJsonBytes(fitted.rows);
    await progress(rows.length, `${rows.length} rows`);
  }
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
 * Returns the rows of a page that fit; with `atLeastOne`, the first one whatever its size. If some do not fit, the page
 * is requested again with that number of rows, because only the upstream can create cursors.
 */
async function fitPage(
  pageRequest: Input,
  first: readonly Row[],
  roomBytes: number,
  atLeastOne: boolean,
  { requestPage, toVisibleRow }: PageOptions,
): Promise<FittedPage | Failure> {
  const shown = first.map(toVisibleRow);
  let count = countRowsThatFit(shown, roomBytes);
  if (count === shown.length) return { rows: shown, isTruncated: false, next: undefined };
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    if (atLeastOne) count = attempt + 1 < maxAttempts ? Math.max(count, 1) : 1;
    if (count === 0) break;
    const answer = await requestPage({ ...pageRequest, limit: count });
    if (!answer.ok) return answer;
    const rows = (answer.data as Row[]).map(toVisibleRow);
    const fits = countRowsThatFit(rows, roomBytes);
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

function createIncompletePages(rows: readonly Row[], next: string | undefined, reason: string): Pages {
  const note =
    next === undefined
      ? []
      : [`${reason} ${rows.length} rows are shown; continue with lastEvaluatedKey and the same filters.`];
  return { ok: true, rows, page: createPageMeta(next), notes: note };
}

function createPageMeta(next: string | undefined): PageMeta {
  return next === undefined ? { hasMore: false } : { hasMore: true, lastEvaluatedKey: next };
}
