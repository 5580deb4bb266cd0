import type { Answer, Success } from "./port.ts";

/**
 * Returns so many rows of a page, with the cursor that continues after them: at once if the service is embedded, else by
 * a request for so many rows, because only the service can create cursors.
 */
export async function shortenPage(page: Success, rows: number, request: () => Promise<Answer>): Promise<Answer> {
  const { cursorAfter } = page;
  const data = page.data as readonly unknown[];
  if (rows === data.length) return page;
  if (!cursorAfter) return request();
  return { ...page, data: data.slice(0, rows), page: { hasMore: true, lastEvaluatedKey: cursorAfter(rows) } };
}
