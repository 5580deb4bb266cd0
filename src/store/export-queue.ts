import { sql } from "kysely";
import { newId } from "../lib/ids.ts";
import type { Db } from "./database.ts";
import type { ExportClaim, ExportLease, ExportQueue, KeptArtifact } from "./port.ts";

type Transact = <R>(work: (db: Db) => Promise<R>) => Promise<R>;

/** The queue on one database: what is pending is read from the exports, who works on it is kept beside them. */
export function createExportQueue(read: Db, write: Db, transact: Transact): ExportQueue {
  return {
    async claim(now, leaseUntil) {
      // Asked often, and mostly in vain: that must not take the right to write from others.
      if (!(await firstClaimable(read, now))) return undefined;
      return transact((db) => claim(db, now, leaseUntil));
    },

    renew: (lease, leaseUntil) => change(write, lease, { leaseUntil }),
    note: (lease, sha256) => change(write, lease, { sha256 }),

    async release(lease, claimableAt) {
      await change(write, lease, { leaseId: "", leaseUntil: claimableAt });
    },

    async expired(now, limit) {
      const rows = await read
        .selectFrom("exportRuns")
        .select(["businessId", "exportId", "sha256"])
        .where("keptUntil", "<=", now)
        .orderBy("keptUntil")
        .limit(limit)
        .execute();
      return rows as unknown as KeptArtifact[];
    },

    async forget({ businessId, exportId }) {
      await write
        .deleteFrom("exportRuns")
        .where("businessId", "=", businessId)
        .where("exportId", "=", exportId)
        .where("keptUntil", "is not", null)
        .execute();
    },
  };
}

/** See `GateTransaction.endExport`. */
export async function endExport(db: Db, lease: ExportLease, keptUntil: string | undefined): Promise<boolean> {
  if (keptUntil !== undefined) return change(db, lease, { leaseId: "", keptUntil });
  const { numDeletedRows } = await db
    .deleteFrom("exportRuns")
    .where("businessId", "=", lease.businessId)
    .where("exportId", "=", lease.exportId)
    .where("leaseId", "=", lease.leaseId)
    .executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}

async function claim(db: Db, now: string, leaseUntil: string): Promise<ExportClaim | undefined> {
  const found = await firstClaimable(db, now);
  if (!found) return undefined;
  const { businessId, exportId, sha256 } = found;
  const lease = { businessId, exportId, leaseId: newId("lse") };
  const attempts = found.attempts + 1;
  const holding = { leaseId: lease.leaseId, leaseUntil, attempts };
  await db
    .insertInto("exportRuns")
    .values({ exportId, businessId, ...holding, sha256: null, keptUntil: null })
    .onConflict((conflict) => conflict.columns(["businessId", "exportId"]).doUpdateSet(holding))
    .execute();
  return { lease, attempts, abandonedSha256: sha256 };
}

async function firstClaimable(db: Db, now: string) {
  const row = await db
    .selectFrom("exports as e")
    .leftJoin("exportRuns as r", (join) =>
      join.onRef("r.businessId", "=", "e.businessId").onRef("r.exportId", "=", "e.exportId"),
    )
    .select(["e.businessId", "e.exportId", "r.attempts", "r.sha256"])
    // A literal, for the index over pending exports is of use only to a query that says so.
    .where(sql<boolean>`${sql.ref("e.status")} = ${sql.lit("pending")}`)
    .where((eb) => eb.or([eb("r.leaseUntil", "is", null), eb("r.leaseUntil", "<=", now)]))
    .orderBy("e.createdAt")
    .orderBy("e.businessId")
    .orderBy("e.exportId")
    .limit(1)
    .executeTakeFirst();
  if (!row) return undefined;
  return {
    businessId: String(row["businessId"]),
    exportId: String(row["exportId"]),
    attempts: Number(row["attempts"] ?? 0),
    sha256: typeof row["sha256"] === "string" ? row["sha256"] : undefined,
  };
}

/** Changes a run while the lease is the one that is given. */
async function change(db: Db, lease: ExportLease, values: Record<string, string>): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("exportRuns")
    .set(values)
    .where("businessId", "=", lease.businessId)
    .where("exportId", "=", lease.exportId)
    .where("leaseId", "=", lease.leaseId)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
