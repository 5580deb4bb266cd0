import { setTimeout as delay } from "node:timers/promises";
import { type Answer, callRest, type Door } from "./client.ts";
import type { Receiver } from "./receiver.ts";

/** Differences between what was acknowledged and what is there; all zero where nothing was lost or done twice. */
export interface Ledger {
  readonly acknowledged: number;
  readonly lostWrites: number;
  readonly doubledWrites: number;
  /** Submissions without exactly one audit entry, and entries without a submission. */
  readonly wrongAuditEntries: number;
  /** Submissions without an event. */
  readonly lostEvents: number;
  /** Events beyond one of each submission. */
  readonly doubledEvents: number;
}

interface Row {
  readonly submissionId: string;
  readonly innovatorEmail: string;
}

interface Entry {
  readonly submissionId: string;
  /** Null for a change, the HTTP status of a refusal. */
  readonly status: number | null;
}

const eventsWithinMs = 90_000;

/** Reads submissions and audit entries over REST, waits for the events, and compares all with what was acknowledged. */
export async function readLedger(
  door: Door,
  acknowledged: ReadonlyMap<string, string>,
  receiver: Receiver,
): Promise<Ledger> {
  const rows = await listAll<Row>(door, "/submissions?limit=100");
  const entries = await listAll<Entry>(door, "/audit?limit=100&action=submission.created");
  const ids = new Set(rows.map(({ submissionId }) => submissionId));
  const untilMs = performance.now() + eventsWithinMs;
  while (countLost(ids, listCreated(receiver)) > 0 && performance.now() < untilMs) await delay(100);
  const created = listCreated(receiver);
  const byAddress = Map.groupBy(rows, ({ innovatorEmail }) => innovatorEmail);
  const isKept = ([address, id]: [string, string]) =>
    byAddress.get(address)?.some(({ submissionId }) => submissionId === id);
  const audited = entries.filter(({ status }) => status === null).map(({ submissionId }) => submissionId);
  return {
    acknowledged: acknowledged.size,
    lostWrites: [...acknowledged].filter((each) => !isKept(each)).length,
    doubledWrites: rows.length - byAddress.size,
    wrongAuditEntries:
      countLost(ids, audited) + (audited.length - new Set(audited).size) + countLost(new Set(audited), [...ids]),
    lostEvents: countLost(ids, created),
    doubledEvents: created.length - new Set(created).size + countLost(new Set(created), [...ids]),
  };
}

/** Returns the ids in the first list that the second does not contain. */
function countLost(ids: ReadonlySet<string>, found: readonly string[]): number {
  return ids.difference(new Set(found)).size;
}

function listCreated({ events }: Receiver): string[] {
  return [...events.values()].flatMap(({ event: { eventType, data } }) =>
    eventType === "submission.draft_created" && "submissionId" in data ? [data.submissionId] : [],
  );
}

/** Returns all rows of a list. */
export async function listAll<R>(door: Door, path: string): Promise<R[]> {
  const rows: R[] = [];
  let cursor: string | undefined;
  for (;;) {
    const after: string = cursor === undefined ? "" : `&lastEvaluatedKey=${encodeURIComponent(cursor)}`;
    const answer: Answer = await callRest(door, "GET", path + after);
    if (answer.seen.startsWith("503")) {
      await delay(1_000);
      continue;
    }
    if (!answer.ok) throw new Error(`${path} answers ${answer.seen}`);
    rows.push(...answer.data);
    cursor = answer.cursor;
    if (cursor === undefined) return rows;
  }
}
