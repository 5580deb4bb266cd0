import { maxLimit, type PageMeta } from "../../contract/definition/page.ts";
import { limits } from "../../contract/limits.ts";
import { countRowsThatFit, measureJsonBytes } from "../../lib/json-cache.ts";
import type { Answer, Failure } from "../../upstream/port.ts";
import type { CallControl } from "../call-control.ts";

type Row = Readonly<Record<string, unknown>>;
type Input = Readonly<Record<string, unknown>>;

export interface PageOptions extends CallControl {
  /** Asks the upstream for one page. */
  readonly ask: (input: Input) => Promise<Answer>;
  /** A row as it is shown. */
  readonly show: (row: Row) => Row;
  readonly maxBytes: number;
  /** Every page, up to `limits.gatheredRows`. */
  readonly all: boolean;
}

export interface Pages {
  readonly ok: true;
  readonly rows: readonly Row[];
  readonly page: PageMeta;
  readonly notes: readonly string[];
}

/**
 * One page of a list, or with `all` page after page, never more than fits: a cut is between rows, and the cursor that
 * comes with it goes on with the very next row.
 */
export async function readPages(input: Input, options: PageOptions): Promise<Pages | Failure> {
  const { all, ask, maxBytes, progress, signal } = options;
  const rows: Row[] = [];
  let next: string | undefined;
  let roomBytes = maxBytes;
  for (;;) {
    const asked = pageInput(input, all ? Math.min(maxLimit, limits.gatheredRows - rows.length) : input["limit"], next);
    const answer = await ask(asked);
    if (!answer.ok)
      return rows.length === 0
        ? answer
        : createStoppedPages(rows, next, `${answer.problem.message} ${answer.problem.remediation}`);
    const fitted = await fitPage(asked, answer.data as Row[], roomBytes, rows.length === 0, options);
    if ("ok" in fitted) return rows.length === 0 ? fitted : createStoppedPages(rows, next, fitted.problem.remediation);
    rows.push(...fitted.rows);
    if (fitted.cut) {
      const cursor = fitted.rows.length === 0 ? next : fitted.next;
      return createStoppedPages(
        rows,
        cursor,
        `A result holds ${maxBytes} bytes; select fewer fields to have more rows in one.`,
      );
    }
    next = answer.page?.lastEvaluatedKey;
    if (next === undefined || !all) return { ok: true, rows, page: createPageMeta(next), notes: [] };
    if (rows.length >= limits.gatheredRows)
      return createStoppedPages(rows, next, `One call gathers ${limits.gatheredRows} rows at most.`);
    if (signal.aborted) return createStoppedPages(rows, next, "The call was cancelled.");
    roomBytes -= measureJsonBytes(fitted.rows);
    await progress(rows.length, `${rows.length} rows`);
  }
}

interface FittedPage {
  readonly rows: readonly Row[];
  readonly cut: boolean;
  /** After the last of these rows, if they are cut. */
  readonly next: string | undefined;
}

/** How often a page that others are writing to is asked for again. */
const maxAttempts = 3;

/**
 * The rows of a page that there is room for, `atLeastOne` whatever its size. Where that is fewer than came, the page
 * is asked for again with just so many: only the upstream makes cursors.
 */
async function fitPage(
  asked: Input,
  first: readonly Row[],
  roomBytes: number,
  atLeastOne: boolean,
  { ask, show }: PageOptions,
): Promise<FittedPage | Failure> {
  const shown = first.map(show);
  let count = countRowsThatFit(shown, roomBytes);
  if (count === shown.length) return { rows: shown, cut: false, next: undefined };
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    if (atLeastOne) count = attempt + 1 < maxAttempts ? Math.max(count, 1) : 1;
    if (count === 0) break;
    const answer = await ask({ ...asked, limit: count });
    if (!answer.ok) return answer;
    const rows = (answer.data as Row[]).map(show);
    const fits = countRowsThatFit(rows, roomBytes);
    if (fits >= rows.length || (atLeastOne && count === 1))
      return { rows, cut: true, next: answer.page?.lastEvaluatedKey };
    count = fits;
  }
  return { rows: [], cut: true, next: undefined };
}

/** The arguments of a page: `cursor` is another name of the same thing. */
function pageInput({ cursor, ...input }: Input, limit: unknown, next: string | undefined): Input {
  const first = { ...input, ...(cursor === undefined ? {} : { cursor }), limit };
  return next === undefined ? first : { ...input, limit, lastEvaluatedKey: next };
}

function createStoppedPages(rows: readonly Row[], next: string | undefined, why: string): Pages {
  const note =
    next === undefined
      ? []
      : [`${why} ${rows.length} rows are shown; go on with lastEvaluatedKey and the same filters.`];
  return { ok: true, rows, page: createPageMeta(next), notes: note };
}

function createPageMeta(next: string | undefined): PageMeta {
  return next === undefined ? { hasMore: false } : { hasMore: true, lastEvaluatedKey: next };
}
