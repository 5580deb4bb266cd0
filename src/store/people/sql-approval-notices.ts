import type { Db } from "../database.ts";
import type { Engine } from "../engine.ts";
import type { ApprovalNotices, DueNotice, NoticeLimits } from "./user-store.ts";

export function createApprovalNotices({ read, transact }: Pick<Engine, "read" | "transact">): ApprovalNotices {
  return {
    async isWanted(businessId, userId) {
      const own = read.selectFrom("approvalNotices").select("userId").where("businessId", "=", businessId);
      return (await own.where("userId", "=", userId).executeTakeFirst()) !== undefined;
    },

    setWanted: (businessId, userId, isWanted) =>
      transact(async (db) => {
        const fresh = { businessId, userId, triedAt: "", toldUntil: "" };
        const key = ["businessId", "userId"] as const;
        await (isWanted
          ? db
              .insertInto("approvalNotices")
              .values(fresh)
              .onConflict((conflict) => conflict.columns(key).doNothing())
              .execute()
          : db
              .deleteFrom("approvalNotices")
              .where("businessId", "=", businessId)
              .where("userId", "=", userId)
              .execute());
      }),

    claim: (limits) => claimNotice(read, transact, limits),

    async markTold({ businessId, userId }, toldUntil) {
      await transact((db) =>
        db
          .updateTable("approvalNotices")
          .set({ toldUntil })
          .where("businessId", "=", businessId)
          .where("userId", "=", userId)
          .execute(),
      );
    },
  };
}

async function claimNotice(
  read: Db,
  transact: Engine["transact"],
  { now, triedBefore, roles }: NoticeLimits,
): Promise<DueNotice | undefined> {
  const due = await read
    .selectFrom("approvalNotices as n")
    .innerJoin("users as u", "u.id", "n.userId")
    .select(["n.businessId", "n.userId", "n.toldUntil", "n.triedAt"])
    .where("u.disabledAt", "is", null)
    .where("u.role", "in", [...roles])
    .where("n.triedAt", "<=", triedBefore)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom("approvals as a")
          .select("a.approvalId")
          .whereRef("a.businessId", "=", "n.businessId")
          .where("a.status", "=", "pending")
          .where("a.expiresAt", ">", now)
          .whereRef("a.createdAt", ">", "n.toldUntil"),
      ),
    )
    .orderBy("n.triedAt")
    .limit(1)
    .executeTakeFirst();
  if (!due) return undefined;
  const { businessId, userId, toldUntil, triedAt } = due as Record<string, string>;
  const notice = { businessId, userId, toldUntil } as DueNotice;
  const { numUpdatedRows } = await transact((db) =>
    db
      .updateTable("approvalNotices")
      .set({ triedAt: now })
      .where("businessId", "=", businessId)
      .where("userId", "=", userId)
      .where("triedAt", "=", triedAt)
      .executeTakeFirstOrThrow(),
  );
  return numUpdatedRows > 0n ? notice : undefined;
}
