import { newId } from "../lib/ids.ts";
import type { Db } from "./database.ts";
import type { PermitGrant, PermitRequest } from "./port.ts";

interface Holding {
  readonly leaseId: string;
  readonly granted: number;
  readonly expiresAtMs: number;
  /** When its permits were used, once it is settled; until then any of them may be, up to its end. */
  readonly usedAtMs: readonly number[] | undefined;
}

/**
 * Settles a lease and grants the next one, inside a write transaction. An open lease counts in full until a window
 * after its end, a settled one by its uses, so whatever the processes do no window holds more than the limit.
 */
export async function leasePermits(db: Db, request: PermitRequest): Promise<PermitGrant> {
  const { tokenId, limit, windowMs, chunk, leaseMs, nowMs, settle } = request;
  if (settle) await settleLease(db, tokenId, settle);
  const ofToken = db.deleteFrom("permits").where("tokenId", "=", tokenId);
  await ofToken.where("expiresAtMs", "<=", nowMs - windowMs).execute();
  // Each permit counted by the moment at which it comes free.
  const freeAtMs = (await holdingsOf(db, tokenId)).flatMap(({ granted, expiresAtMs, usedAtMs }) =>
    (usedAtMs ?? new Array<number>(granted).fill(expiresAtMs)).map((usedMs) => usedMs + windowMs),
  );
  const counted = freeAtMs.filter((freeMs) => freeMs > nowMs);
  const available = Math.max(0, limit - counted.length);
  const granted = Math.min(chunk, available);
  if (granted === 0) {
    return {
      lease: undefined,
      remaining: available,
      retryAtMs: counted.reduce((a, b) => Math.min(a, b), nowMs + windowMs),
    };
  }
  const lease = { leaseId: newId("lse"), granted, expiresAtMs: nowMs + leaseMs };
  await db
    .insertInto("permits")
    .values({ tokenId, ...lease, usedAtMs: null })
    .execute();
  return { lease, remaining: available - granted, retryAtMs: nowMs };
}

async function settleLease(
  db: Db,
  tokenId: string,
  { leaseId, usedAtMs }: NonNullable<PermitRequest["settle"]>,
): Promise<void> {
  const lastMs = usedAtMs.reduce((a, b) => Math.max(a, b), 0);
  await db
    .updateTable("permits")
    .set({ usedAtMs: JSON.stringify(usedAtMs), expiresAtMs: lastMs })
    .where("tokenId", "=", tokenId)
    .where("leaseId", "=", leaseId)
    .where("usedAtMs", "is", null)
    .execute();
}

async function holdingsOf(db: Db, tokenId: string): Promise<Holding[]> {
  const rows = await db
    .selectFrom("permits")
    .select(["leaseId", "granted", "expiresAtMs", "usedAtMs"])
    .where("tokenId", "=", tokenId)
    .execute();
  return rows.map((row) => ({
    leaseId: row["leaseId"] as string,
    granted: Number(row["granted"]),
    expiresAtMs: Number(row["expiresAtMs"]),
    usedAtMs: row["usedAtMs"] === null ? undefined : (JSON.parse(row["usedAtMs"] as string) as number[]),
  }));
}
