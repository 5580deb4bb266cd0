import type { ModelCursor, ModelTenant } from "../tenant.ts";

/** Predicts pages of lists whose rows the newest come first, and never leave the list (records: order of lists). */

/** A row of such a list. Its id and time are known since an answer has shown them. */
export interface DatedEntry {
  /** Identifies the row in the model. */
  readonly key: string;
  id?: string;
  at?: string;
  /** When the request that made the row was sent and answered, in milliseconds. */
  readonly sentAt: number;
  readonly answeredAt: number;
  /** False if the row can come later than the answer of its request. */
  readonly isCertain: boolean;
}

/** The rows of a page, and whether another page follows. */
export interface DatedPage<E extends DatedEntry> {
  readonly rows: readonly E[];
  /** Rows that the page lacks, although they are in the list. */
  readonly missing: readonly E[];
  readonly hasMore: boolean;
}

interface PageRequest {
  readonly limit: number;
  readonly from: ModelCursor | undefined;
  /** The cursor that the answer gives. */
  readonly next: string | undefined;
  /** True if the list can have rows that the model does not know before an answer shows them. */
  readonly hasUnknownRows?: boolean;
}

/** Returns the page of a list to which all rows of the answer have been matched. */
export function predictPage<E extends DatedEntry>(
  entries: readonly E[],
  { limit, from, next, hasUnknownRows = false }: PageRequest,
): DatedPage<E> {
  const isAfterCursor = (each: E) => from?.last === undefined || compareAges(each, from.last) > 0;
  const listed = entries.filter((each) => each.at !== undefined && isAfterCursor(each)).toSorted(compareAges);
  const unlisted = entries.filter((each) => each.at === undefined);
  const rows = listed.slice(0, limit);
  const lastMs = Date.parse(rows.at(-1)?.at ?? "");
  const missing = unlisted
    .filter(({ isCertain, key }) => isCertain && (from === undefined || from.always.has(key)))
    .filter(({ sentAt }) => next === undefined || sentAt > lastMs);
  const mayHaveMore = rows.length === limit && (listed.length > limit || unlisted.length > 0 || hasUnknownRows);
  return { rows, missing, hasMore: next === undefined ? listed.length > limit : mayHaveMore };
}

/** Notes the cursor of a page. */
export function addCursor<E extends DatedEntry>(
  { cursors }: ModelTenant,
  { name, filter, cursor }: Pick<ModelCursor, "name" | "filter" | "cursor">,
  { rows, entries, from }: { rows: readonly E[]; entries: readonly E[]; from: ModelCursor | undefined },
): void {
  const { id = "", at = "" } = rows.at(-1) ?? {};
  const always = from?.always ?? new Set(entries.map(({ key }) => key));
  cursors.push({ cursor, name, filter, returned: new Set(), always, last: { id, at } });
}

/** Gives an entry the time that an answer shows, if its request can have made it then. */
export function dateEntry(entry: DatedEntry, id: string, at: string): void {
  if (entry.at === undefined && isDatedWithin(entry, at)) Object.assign(entry, { id, at });
}

/** Returns whether the request of an entry can have made it at a time. */
export function isDatedWithin({ sentAt, answeredAt }: DatedEntry, at: string): boolean {
  const atMs = Date.parse(at);
  return atMs >= sentAt && atMs <= answeredAt;
}

/** Sorts the newest first, and rows of the same millisecond by descending id. */
function compareAges(one: Pick<DatedEntry, "at" | "id">, other: Pick<DatedEntry, "at" | "id">): number {
  return compareTexts(other.at, one.at) || compareTexts(other.id, one.id);
}

function compareTexts(one = "", other = ""): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
