import { sql } from "kysely";
import type { Db } from "./database.ts";
import type { ExpiringRows } from "./port.ts";

/**
 * Deletes a batch of rows that are older than a time, inside a write transaction.
 * @returns the number of deleted rows
 */
export async function deleteOldRows(
  db: Db,
  businessId: string,
  kind: ExpiringRows,
  before: string,
  limit: number,
): Promise<number> {
  const step = { businessId, before, limit };
  switch (kind) {
    case "deliveries":
      return deleteDeliveries(db, step);
    case "events":
      return deleteEvents(db, step);
    case "accesses":
      return deleteAgedRows(db, step, { table: "audit", id: "auditId", age: "occurredAt", kind: "access" });
    case "answers":
      return deleteAgedRows(db, step, { table: "answers", id: "fingerprint", age: "createdAt" });
    case "confirmations":
      return deleteAgedRows(db, step, { table: "confirmations", id: "nonce", age: "expiresAt" });
    case "approvals":
      return deleteAgedRows(db, step, { table: "approvals", id: "approvalId", age: "createdAt" });
  }
}

interface Step {
  readonly businessId: string;
  readonly before: string;
  readonly limit: number;
}

interface Aged {
  readonly table: string;
  readonly id: string;
  readonly age: string;
  readonly kind?: string;
}

async function deleteAgedRows(db: Db, { businessId, before, limit }: Step, { table, id, age, kind }: Aged) {
  let old = db.selectFrom(table).select(id).where("businessId", "=", businessId).where(age, "<", before);
  if (kind !== undefined) old = old.where(sql<boolean>`${sql.ref("kind")} = ${sql.lit(kind)}`);
  return deleteRows(db, table, businessId, id, await listIds(old.orderBy(age).limit(limit).execute(), id));
}

async function deleteDeliveries(db: Db, { businessId, before, limit }: Step): Promise<number> {
  const old = db
    .selectFrom("webhookDeliveries")
    .select("deliveryId")
    .where("businessId", "=", businessId)
    .where("createdAt", "<", before)
    .where("status", "not in", ["pending", "leased"]);
  const ids = await listIds(old.orderBy("createdAt").limit(limit).execute(), "deliveryId");
  await deleteRows(db, "webhookAttempts", businessId, "deliveryId", ids);
  return deleteRows(db, "webhookDeliveries", businessId, "deliveryId", ids);
}

/**
 * Deletes events that have no deliveries left. The latest event is kept, because positions continue from it. Events
 * that have not yet been fanned out are kept too.
 */
async function deleteEvents(db: Db, { businessId, before, limit }: Step): Promise<number> {
  const end = await findFirstKeptPosition(db, businessId, before);
  const old = db
    .selectFrom("events as v")
    .select("v.position")
    .where("v.businessId", "=", businessId)
    .where("v.position", "<", end)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("webhookDeliveries as d")
            .select(sql`1`.as("one"))
            .whereRef("d.businessId", "=", "v.businessId")
            .whereRef("d.eventId", "=", "v.eventId"),
        ),
      ),
    );
  const positions = await listIds(old.orderBy("v.position").limit(limit).execute(), "position");
  return deleteRows(db, "events", businessId, "position", positions);
}

/** Returns the position of the first event that must be kept. */
async function findFirstKeptPosition(db: Db, businessId: string, before: string): Promise<number> {
  const ofTenant = db.selectFrom("events").select("position").where("businessId", "=", businessId);
  const young = await ofTenant.where("timestamp", ">=", before).orderBy("position").limit(1).executeTakeFirst();
  const firstKept = young ?? (await ofTenant.orderBy("position", "desc").limit(1).executeTakeFirst());
  const endpoints = await db
    .selectFrom("webhookEndpoints")
    .select((eb) => eb.fn.min("afterPosition").as("after"))
    .where("businessId", "=", businessId)
    .where("status", "=", "enabled")
    .executeTakeFirstOrThrow();
  const end = Number(firstKept?.["position"] ?? 0);
  if (endpoints["after"] === null) return end;
  const cursor = await db
    .selectFrom("webhookCursors")
    .select("position")
    .where("businessId", "=", businessId)
    .executeTakeFirst();
  return Math.min(end, Math.max(Number(cursor?.["position"] ?? 0), Number(endpoints["after"])) + 1);
}

async function listIds(rows: Promise<readonly Readonly<Record<string, unknown>>[]>, id: string): Promise<unknown[]> {
  return (await rows).map((row) => row[id]);
}

async function deleteRows(
  db: Db,
  table: string,
  businessId: string,
  id: string,
  ids: readonly unknown[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const { numDeletedRows } = await db
    .deleteFrom(table)
    .where("businessId", "=", businessId)
    .where(id, "in", [...ids])
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
