import { createId } from "../../lib/ids.ts";
import type { Db } from "../database.ts";
import { getAdapter } from "../engine.ts";
import type { EndedLease, PermitGrant, PermitRequest } from "./rate-limit-leases.ts";

/** A time and the number of permits used at it. */
type Use = readonly [atMs: number, count: number];

interface Holding {
  readonly leaseId: string;
  readonly granted: number;
  readonly expiresAtMs: number;
  /** The uses of the lease's permits, once it is settled. Until then, any of them may be used until its end. */
  readonly uses: readonly Use[] | undefined;
}

/** The row that processes lock. It grants nothing. */
const nobodysLease = "";

/**
 * Settles ended leases and grants the next one, inside a write transaction. An open lease counts in full until one window
 * after its end, a settled one by its uses. Therefore no window exceeds the limit, whatever the processes do.
 */
export async function leasePermits(db: Db, request: PermitRequest): Promise<PermitGrant> {
  const { tokenId, limit, windowMs, chunk, leaseMs, nowMs, settle } = request;
  await lockToken(db, tokenId);
  for (const ended of settle) await settleLease(db, tokenId, ended);
  await db
    .deleteFrom("permits")
    .where("tokenId", "=", tokenId)
    .where("leaseId", "!=", nobodysLease)
    // A lease lasts for seconds. One that ends after more than a window means that the clock was set back.
    .where((eb) => eb.or([eb("expiresAtMs", "<=", nowMs - windowMs), eb("expiresAtMs", ">", nowMs + windowMs)]))
    .execute();
  const counted = (await loadHoldings(db, tokenId))
    .flatMap(({ granted, expiresAtMs, uses }): readonly Use[] => uses ?? [[expiresAtMs, granted]])
    .filter(([atMs]) => atMs + windowMs > nowMs);
  const used = counted.reduce((sum, [, count]) => sum + count, 0);
  const available = Math.max(0, limit - used);
  const granted = Math.min(chunk, available);
  if (granted === 0) {
    return {
      lease: undefined,
      remaining: available,
      retryAtMs: counted.reduce((earliest, [atMs]) => Math.min(earliest, atMs), nowMs) + windowMs,
    };
  }
  const lease = { leaseId: createId("lse"), granted, expiresAtMs: nowMs + leaseMs };
  await db
    .insertInto("permits")
    .values({ tokenId, ...lease, usedAtMs: null })
    .execute();
  return { lease, remaining: available - granted, retryAtMs: nowMs };
}

/** Locks the token's row, so that processes compute its permits one after the other. */
async function lockToken(db: Db, tokenId: string): Promise<void> {
  if (!getAdapter(db).locksRows) return;
  const nobodys = { leaseId: nobodysLease, granted: 0, expiresAtMs: Number.MAX_SAFE_INTEGER, usedAtMs: "[]" };
  await db
    .insertInto("permits")
    .values({ tokenId, ...nobodys })
    .onConflict((conflict) => conflict.columns(["tokenId", "leaseId"]).doUpdateSet({ granted: 0 }))
    .execute();
}

async function settleLease(db: Db, tokenId: string, { leaseId, usedAtMs }: EndedLease): Promise<void> {
  const uses = new Map<number, number>();
  for (const atMs of usedAtMs) uses.set(atMs, (uses.get(atMs) ?? 0) + 1);
  const lastMs = usedAtMs.reduce((a, b) => Math.max(a, b), 0);
  await db
    .updateTable("permits")
    .set({ usedAtMs: JSON.stringify([...uses]), expiresAtMs: lastMs })
    .where("tokenId", "=", tokenId)
    .where("leaseId", "=", leaseId)
    .where("usedAtMs", "is", null)
    .execute();
}

async function loadHoldings(db: Db, tokenId: string): Promise<Holding[]> {
  const rows = await db
    .selectFrom("permits")
    .select(["leaseId", "granted", "expiresAtMs", "usedAtMs"])
    .where("tokenId", "=", tokenId)
    .execute();
  return rows.map((row) => ({
    leaseId: row["leaseId"] as string,
    granted: Number(row["granted"]),
    expiresAtMs: Number(row["expiresAtMs"]),
    uses: row["usedAtMs"] === null ? undefined : (JSON.parse(row["usedAtMs"] as string) as Use[]),
  }));
}
