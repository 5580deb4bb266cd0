import { defaultLimit } from "../../contract/definition/page.ts";
import type { Reviewer } from "../../contract/reviewers.ts";
import { mayHoldAddress } from "../../lib/addresses.ts";
import { matchesShown } from "../../lib/search-words.ts";
import type { Request } from "../remote/requester.ts";

/** Number of pages of the service's list that one call searches. */
const maxPages = 10;

/**
 * Wraps a request so that the reviewers' list is searched by what the caller sees, or by a whole address. The service
 * would search inside addresses, so the list is read without the search and filtered here. Rows, pages and the number
 * of requests then reveal nothing about hidden addresses.
 */
export function withShownSearch(request: Request): Request {
  return async (call, operation, parts) => {
    const { search, limit, lastEvaluatedKey, ...filters } = parts.query;
    if (search === undefined) return request(call, operation, parts);
    const wanted = Number(limit ?? defaultLimit);
    const rows: unknown[] = [];
    let cursor = lastEvaluatedKey;
    for (let page = 1; ; page++) {
      const query = { ...filters, limit: wanted - rows.length, lastEvaluatedKey: cursor };
      const read = await request(call, operation, { ...parts, query });
      rows.push(...(read.data as readonly Reviewer[]).filter((row) => isFound(row, String(search))));
      cursor = read.page?.lastEvaluatedKey;
      if (cursor === undefined || rows.length >= wanted || page >= maxPages) return { ...read, data: rows };
    }
  };
}

function isFound({ firstName, lastName, affiliation, email }: Reviewer, search: string): boolean {
  if (mayHoldAddress(search)) return email?.toLowerCase() === search.toLowerCase();
  return matchesShown(search, [firstName, lastName, affiliation]);
}
