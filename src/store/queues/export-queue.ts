import { sql } from "kysely";
import { createId } from "../../lib/ids.ts";
import { type Db, prepareQuery } from "../database.ts";
import { skipLocked, type Transact } from "../engine.ts";
import { createLeasedRows } from "./leased-rows.ts";
import type { ExportClaim, ExportLease, ExportQueue, StoredArtifact } from "./work-queues.ts";

const runs = createLeasedRows("exportRuns", "exportId");

/** The queue on one database: what is pending is read from the exports, who works on it is kept beside them. */
export function createExportQueue(read: Db, transact: Transact): ExportQueue {
  const findClaimable = prepareQuery(selectClaimable(read, ""));
  return {
    async claim(now, leaseUntil) {
      // Polled often and mostly without a result, so it is compiled once and must not take the write lock.
      if ((await findClaimable(read, now)).rows.length === 0) return undefined;
      return transact((db) => claim(db, now, leaseUntil));
    },

    renew: (lease, leaseUntil) => transact((db) => runs.update(db, lease, { leaseUntil })),
    note: (lease, sha256) => transact((db) => runs.update(db, lease, { sha256 })),

    async release(lease, claimableAt) {
      await transact((db) => runs.update(db, lease, { leaseId: "", leaseUntil: claimableAt }));
    },

    async listExpired(now, limit) {
      const rows = await read
        .selectFrom("exportRuns")
        .select(["businessId", "exportId", "sha256"])
        .where("keptUntil", "<=", now)
        .orderBy("keptUntil")
        .limit(limit)
        .execute();
      return rows as unknown as StoredArtifact[];
    },

    async deleteArtifact({ businessId, exportId }) {
      await transact((db) => {
        const run = db.deleteFrom("exportRuns").where("businessId", "=", businessId).where("exportId", "=", exportId);
        return run.where("keptUntil", "is not", null).execute();
      });
    },
  };
}

/** See `PipelineTransaction.endExport`. */
export async function endExport(db: Db, lease: ExportLease, keptUntil: string | undefined): Promise<boolean> {
  if (keptUntil !== undefined) return runs.update(db, lease, { leaseId: "", keptUntil });
  return runs.delete(db, lease);
}

async function claim(db: Db, now: string, leaseUntil: string): Promise<ExportClaim | undefined> {
  for (;;) {
    const found = await findFirstClaimable(db, now);
    const claimed = found && (await claimOne(db, found, now, leaseUntil));
    // Another process may have claimed what was found: then there may be others.
    if (!found || claimed) return claimed;
  }
}

async function claimOne(
  db: Db,
  found: Omit<ExportLease, "leaseId">,
  now: string,
  leaseUntil: string,
): Promise<ExportClaim | undefined> {
  const lease = { ...found, leaseId: createId("lse") };
  const holding = { leaseId: lease.leaseId, leaseUntil };
  const run = await db
    .insertInto("exportRuns")
    .values({ ...found, ...holding, attempts: 1, sha256: null, keptUntil: null })
    .onConflict((conflict) =>
      conflict
        .columns(["businessId", "exportId"])
        .doUpdateSet({ ...holding, attempts: sql`${sql.ref("exportRuns.attempts")} + 1` })
        .where("exportRuns.leaseUntil", "<=", now),
    )
    .returning(["attempts", "sha256"])
    .executeTakeFirst();
  if (!run) return undefined;
  const abandonedSha256 = typeof run["sha256"] === "string" ? run["sha256"] : undefined;
  return { lease, attempts: Number(run["attempts"]), abandonedSha256 };
}

/** Finds the oldest export of a tenant that has none in progress, or else the oldest of all. */
async function findFirstClaimable(db: Db, now: string) {
  const busy = selectPending(db).where("r.leaseId", "<>", "").where("r.leaseUntil", ">", now).select("e.businessId");
  const claimable = selectClaimable(db, now);
  const find = async (query: typeof claimable) => skipLocked(db, query, "e").executeTakeFirst();
  const row = (await find(claimable.where("e.businessId", "not in", busy))) ?? (await find(claimable));
  return row && { businessId: String(row["businessId"]), exportId: String(row["exportId"]) };
}

/** Selects the oldest export that no process works on. */
function selectClaimable(db: Db, now: string) {
  return selectPending(db)
    .where((eb) => eb.or([eb("r.leaseUntil", "is", null), eb("r.leaseUntil", "<=", now)]))
    .select(["e.businessId", "e.exportId"])
    .orderBy("e.createdAt")
    .orderBy("e.businessId")
    .orderBy("e.exportId")
    .limit(sql.lit(1));
}

/** Selects exports that are not completed, with the process that works on them. */
function selectPending(db: Db) {
  return (
    db
      .selectFrom("exports as e")
      .leftJoin("exportRuns as r", (join) =>
        join.onRef("r.businessId", "=", "e.businessId").onRef("r.exportId", "=", "e.exportId"),
      )
      // A literal, for the index over pending exports is of use only to a query that says so.
      .where(sql<boolean>`${sql.ref("e.status")} = ${sql.lit("pending")}`)
  );
}
