import { sql } from "kysely";
import type { Db } from "../database.ts";
import type { QueueDepth, QueueDepths } from "../port.ts";

/** Limit of the count. An exact number beyond it is not needed. */
export const maxCountedBacklog = 10_000;

/** Counts the due items of each queue, over all tenants. */
export async function readQueueDepths(db: Db, now: string): Promise<QueueDepths> {
  const limit = maxCountedBacklog;
  const webhooks = db
    .selectFrom("webhookDeliveries")
    .select("dueAt as at")
    // A literal, because the partial index over pending deliveries is used only if the query repeats its condition.
    .where(sql<boolean>`${sql.ref("status")} = ${sql.lit("pending")}`)
    .where("dueAt", "<=", now)
    .limit(limit);
  const mail = db.selectFrom("mailQueue").select("dueAt as at").where("dueAt", "<=", now).limit(limit);
  const exports = db
    .selectFrom("exports as e")
    .leftJoin("exportRuns as r", (join) =>
      join.onRef("r.businessId", "=", "e.businessId").onRef("r.exportId", "=", "e.exportId"),
    )
    .select("e.createdAt as at")
    .where(sql<boolean>`${sql.ref("e.status")} = ${sql.lit("pending")}`)
    .where((eb) => eb.or([eb("r.leaseUntil", "is", null), eb("r.leaseUntil", "<=", now)]))
    .limit(limit);
  return {
    webhooks: await readQueueDepth(db, webhooks),
    mail: await readQueueDepth(db, mail),
    exports: await readQueueDepth(db, exports),
  };
}

async function readQueueDepth(db: Db, due: ReturnType<Db["selectFrom"]>): Promise<QueueDepth> {
  const { count, oldest } = await db
    .selectFrom(due.as("due"))
    .select(({ fn }) => [fn.countAll().as("count"), fn.min("at").as("oldest")])
    .executeTakeFirstOrThrow();
  return { due: Number(count), oldestAt: typeof oldest === "string" ? oldest : undefined };
}
