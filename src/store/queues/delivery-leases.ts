import { sql } from "kysely";
import { createId } from "../../lib/ids.ts";
import type { Db } from "../database.ts";
import { forUpdate, getAdapter, skipLocked } from "../engine.ts";
import type { EndpointKey, EndpointLeases, Lease } from "./outbox.ts";

/**
 * Locks endpoints, and thereby their deliveries, until the transaction ends. Every transaction that changes states of
 * deliveries begins with this, in the same order; otherwise two of them could deadlock.
 */
export async function holdEndpoints(db: Db, endpoints: readonly EndpointKey[]): Promise<void> {
  if (!getAdapter(db).locksRows) return;
  const keys = new Map(endpoints.map(({ businessId, endpointId }) => [endpointId, { businessId, endpointId }]));
  for (const [, key] of [...keys].sort(([a], [b]) => (a < b ? -1 : 1)))
    await forUpdate(db, selectEndpoint(db, key)).execute();
}

/** Leases due deliveries, group by group, inside a write transaction. */
export async function leaseEndpointDeliveries(
  db: Db,
  endpointGroups: readonly EndpointLeases[],
  at: string,
  leaseUntil: string,
): Promise<Lease[]> {
  const leased: Lease[] = [];
  for (const { endpoints, limit, atOnce } of endpointGroups) {
    let free = limit;
    for (const endpoint of endpoints) {
      if (free <= 0) break;
      const own = await createLease(db, endpoint, { at, leaseUntil, atOnce, limit: free });
      free -= own.length;
      leased.push(...own);
    }
  }
  return leased;
}

interface Share {
  readonly at: string;
  readonly leaseUntil: string;
  readonly atOnce: number;
  readonly limit: number;
}

async function createLease(db: Db, endpoint: EndpointKey, { at, leaseUntil, atOnce, limit }: Share): Promise<Lease[]> {
  if (!(await isEnabled(db, endpoint))) return [];
  const count = Math.min(limit, atOnce - (await countUnderWay(db, endpoint, at)));
  if (count <= 0) return [];
  const deliveryIds = await listWaiting(db, endpoint, at, count);
  if (deliveryIds.length === 0) return [];
  const leaseId = createId("lse");
  const rows = await db
    .updateTable("webhookDeliveries")
    .set({ status: "leased", leaseId, leaseUntil })
    .where("businessId", "=", endpoint.businessId)
    .where("deliveryId", "in", deliveryIds)
    .where((eb) =>
      eb.or([
        eb.and([eb("status", "=", "pending"), eb("dueAt", "<=", at)]),
        eb.and([eb("status", "=", "leased"), eb("leaseUntil", "<=", at)]),
      ]),
    )
    .returning(["deliveryId", "eventId", "attempt"])
    .execute();
  const payloads = await loadPayloads(
    db,
    endpoint,
    rows.map((row) => row["eventId"] as string),
  );
  return rows.map((row) => ({
    businessId: endpoint.businessId,
    endpointId: endpoint.endpointId,
    deliveryId: row["deliveryId"] as string,
    leaseId,
    eventId: row["eventId"] as string,
    attempt: Number(row["attempt"]),
    payload: payloads.get(row["eventId"] as string) as string,
  }));
}

function selectDeliveries(db: Db, { businessId, endpointId }: EndpointKey, status: "pending" | "leased") {
  return db
    .selectFrom("webhookDeliveries")
    .where("businessId", "=", businessId)
    .where("endpointId", "=", endpointId)
    .where(sql<boolean>`${sql.ref("status")} = ${sql.lit(status)}`);
}

async function countUnderWay(db: Db, endpoint: EndpointKey, at: string): Promise<number> {
  const { n } = await selectDeliveries(db, endpoint, "leased")
    .where("leaseUntil", ">", at)
    .select((eb) => eb.fn.countAll().as("n"))
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** Skips an endpoint for which another process leases at this moment. The next step finds it again. */
async function isEnabled(db: Db, key: EndpointKey): Promise<boolean> {
  const endpoint = await skipLocked(db, selectEndpoint(db, key)).executeTakeFirst();
  return endpoint?.["status"] === "enabled";
}

function selectEndpoint(db: Db, { businessId, endpointId }: EndpointKey) {
  const ofTenant = db.selectFrom("webhookEndpoints").select("status").where("businessId", "=", businessId);
  return ofTenant.where("endpointId", "=", endpointId);
}

/** Lists first the deliveries of processes that ended, because they have waited longer. */
async function listWaiting(db: Db, endpoint: EndpointKey, at: string, limit: number): Promise<string[]> {
  const steps = [
    ["leased", "leaseUntil"],
    ["pending", "dueAt"],
  ] as const;
  const found: string[] = [];
  for (const [status, time] of steps) {
    if (found.length >= limit) break;
    const due = selectDeliveries(db, endpoint, status).where(time, "<=", at).select("deliveryId").orderBy(time);
    const rows = await skipLocked(db, due.limit(limit - found.length)).execute();
    found.push(...rows.map((row) => row["deliveryId"] as string));
  }
  return found;
}

async function loadPayloads(db: Db, { businessId }: EndpointKey, eventIds: readonly string[]) {
  const rows = await db
    .selectFrom("events")
    .select(["eventId", "payload"])
    .where("businessId", "=", businessId)
    .where("eventId", "in", [...eventIds])
    .execute();
  return new Map(rows.map((row) => [row["eventId"] as string, row["payload"] as string]));
}
