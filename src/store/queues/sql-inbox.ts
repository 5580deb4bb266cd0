import { getEventKind, getSubmissionId } from "../../contract/event-log.ts";
import type { Db } from "../database.ts";
import type { TransactSerially } from "../engine.ts";
import type { Inbox, InboxBounds, IncomingEvent } from "./event-log.ts";

export function createInbox(transactSerially: TransactSerially): Inbox {
  return {
    keep: (businessId, event, at, bounds) =>
      transactSerially(businessId, async (db, commitNumber) => {
        if (await isKnown(db, businessId, event.eventId)) return false;
        await insert(db, { businessId, commitNumber }, event, at, bounds);
        return true;
      }),
  };
}

/** A service that sends its webhooks to itself receives the tenant's own events again. */
async function isKnown(db: Db, businessId: string, eventId: string): Promise<boolean> {
  for (const table of ["receivedEvents", "events"]) {
    const same = db.selectFrom(table).select("eventId").where("businessId", "=", businessId);
    if (await same.where("eventId", "=", eventId).executeTakeFirst()) return true;
  }
  return false;
}

async function insert(
  db: Db,
  { businessId, commitNumber }: { readonly businessId: string; readonly commitNumber: number },
  { webhook, ...payload }: IncomingEvent,
  at: string,
  bounds: InboxBounds,
): Promise<void> {
  const { eventId, eventType, timestamp } = payload;
  const last = await readLast(db, businessId);
  const position = last.position + 1;
  const values = {
    businessId,
    eventId,
    webhook,
    eventType,
    kind: getEventKind(eventType),
    timestamp,
    receivedAt: last.receivedAt >= at ? new Date(Date.parse(last.receivedAt) + 1).toISOString() : at,
    submissionId: getSubmissionId(payload) ?? null,
    payload: JSON.stringify(payload),
    position,
    commitNumber,
  };
  await db.insertInto("receivedEvents").values(values).execute();
  const ofTenant = db.deleteFrom("receivedEvents").where("businessId", "=", businessId);
  await ofTenant.where("receivedAt", "<", bounds.notBefore).execute();
  await ofTenant.where("position", "<=", position - bounds.maxEvents).execute();
}

async function readLast(db: Db, businessId: string): Promise<{ position: number; receivedAt: string }> {
  const last = await db
    .selectFrom("receivedEvents")
    .select(["position", "receivedAt"])
    .where("businessId", "=", businessId)
    .orderBy("position", "desc")
    .limit(1)
    .executeTakeFirst();
  return { position: Number(last?.["position"] ?? 0), receivedAt: String(last?.["receivedAt"] ?? "") };
}
