import { LRUCache } from "lru-cache";
import { measureRows } from "../../lib/json-cache.ts";
import type { Success, Upstream } from "../../upstream/port.ts";

/** The size of a list's rows, by the pages that were read last. */
interface RowSize {
  readonly bytes: number;
  /** A page may end after any of its rows, because the service can create all cursors. */
  readonly canCut: boolean;
}

/** Estimates how many rows of a list fit into a result. */
export interface RowSizes {
  /** Returns how many rows to request: the wanted ones if they may fit into so many bytes, else about as many as do. */
  chooseLimit(wanted: number, roomBytes: number): number;
  /** Learns from the first rows of a page. */
  learn(rows: readonly unknown[], page: Success): void;
}

const maxLists = 1_000;
const sizesByUpstream = new WeakMap<Upstream, LRUCache<string, RowSize>>();

/**
 * Share of the room that the rows of a request are to take. A page that can be cut may be too long; one that cannot would
 * have to be read again.
 */
const cutShare = 1.15;
const wholeShare = 0.9;

/**
 * Remembers the sizes of rows by list.
 * @param list - the caller, the operation and the selected fields
 */
export function createRowSizes(upstream: Upstream, list: readonly unknown[]): RowSizes {
  const sizes = sizesByUpstream.get(upstream) ?? new LRUCache({ max: maxLists });
  sizesByUpstream.set(upstream, sizes);
  const key = JSON.stringify(list);
  return {
    chooseLimit(wanted, roomBytes) {
      const known = sizes.get(key);
      if (!known || wanted * known.bytes <= roomBytes) return wanted;
      const share = known.canCut ? cutShare : wholeShare;
      return Math.max(1, Math.min(wanted, Math.floor((roomBytes * share) / known.bytes)));
    },
    learn(rows, { cursorAfter }) {
      if (rows.length === 0) return;
      const bytes = measureRows(rows).bytes / rows.length;
      const known = sizes.get(key)?.bytes ?? bytes;
      sizes.set(key, { bytes: (known + bytes) / 2, canCut: cursorAfter !== undefined });
    },
  };
}
