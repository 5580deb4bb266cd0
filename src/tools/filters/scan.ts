import { defaultLimit, maxLimit } from "../../contract/definition/page.ts";
import type { Answer } from "../../upstream/port.ts";
import { shortenPage } from "../../upstream/shorten-page.ts";
import type { CallControl } from "../call-control.ts";
import type { RowFilter } from "./row-filters.ts";

type Row = Readonly<Record<string, unknown>>;
type RequestPage = (input: Row) => Promise<Answer>;

/** Most pages of the interface that are read for one page of matching rows. Each uses the token's rate. */
export const maxScannedPages = 20;

export interface Scan {
  /** Requests a page of matching rows. Its cursor continues after the last row that was looked at. */
  readonly requestPage: RequestPage;
  /** Returns the note on a scan that ended before the list did. */
  findBoundNote(): string | undefined;
}

/** Scans a list for rows that match a filter, page by page. */
export function createScan(
  filter: RowFilter,
  requestPage: RequestPage,
  { progress, signal }: Pick<CallControl, "progress" | "signal">,
): Scan {
  let boundNote: string | undefined;

  async function requestMatching(input: Row): Promise<Answer> {
    const wanted = Number(input["limit"] ?? defaultLimit);
    const rows: Row[] = [];
    let pageInput: Row = { ...input, limit: maxLimit };
    for (let page = 1; ; page += 1) {
      const answer = await readUpTo(pageInput, wanted - rows.length);
      if (!answer.ok) {
        if (page === 1) return answer;
        boundNote = createBoundNote(page - 1, answer.problem.message);
        return createAnswer(pageInput["lastEvaluatedKey"]);
      }
      const read = answer.data as readonly Row[];
      rows.push(...read.filter(filter.matches));
      const cursor = filter.isPast?.(read) ? undefined : answer.page?.lastEvaluatedKey;
      const isBound = page >= maxScannedPages || signal.aborted;
      if (cursor === undefined || rows.length >= wanted || isBound) {
        if (cursor !== undefined && rows.length < wanted) boundNote = createBoundNote(page);
        return createAnswer(cursor);
      }
      const { cursor: _, ...filters } = pageInput;
      pageInput = { ...filters, lastEvaluatedKey: cursor };
      await progress(page, `${page * maxLimit} rows read, ${rows.length} match`);
    }

    function createAnswer(cursor: unknown): Answer {
      const page =
        typeof cursor === "string" ? { hasMore: true, lastEvaluatedKey: cursor } : { hasMore: false as const };
      return { ok: true, status: 200, data: rows, page, replayed: false };
    }
  }

  /** Reads a page, up to the last wanted row if more match. */
  async function readUpTo(input: Row, wanted: number): Promise<Answer> {
    const answer = await requestPage(input);
    if (!answer.ok) return answer;
    const read = answer.data as readonly Row[];
    const matching = read.flatMap((row, index) => (filter.matches(row) ? [index] : []));
    const last = matching[wanted - 1];
    const isComplete = last === undefined || last === read.length - 1;
    if (isComplete || matching.length <= wanted) return answer;
    return shortenPage(answer, last + 1, () => requestPage({ ...input, limit: last + 1 }));
  }

  return { requestPage: requestMatching, findBoundNote: () => boundNote };
}

function createBoundNote(pages: number, reason?: string): string {
  return `The call looked at ${pages * maxLimit} rows. ${reason ?? "One call looks at no more."}`;
}
