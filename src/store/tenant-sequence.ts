import { sql } from "kysely";
import { type Db, type PreparedStatement, prepareQuery } from "./database.ts";

/**
 * Takes a tenant's turn inside a transaction, waiting until no other one has it. What is read from then on has been
 * committed, and stays so: at the isolation level `read committed` because each statement sees what was committed
 * before it, at higher ones because a transaction that began to look too early fails here, and is run again.
 *
 * @returns the number of the turn: one more than that of the tenant's last transaction
 */
export function prepareCommitSequence(db: Db): (transaction: Db, businessId: string) => Promise<number> {
  const turn: PreparedStatement = prepareQuery(
    db
      .insertInto("turns")
      .values({ businessId: "", turn: sql.lit(1) })
      .onConflict((conflict) =>
        conflict.column("businessId").doUpdateSet({ turn: sql`${sql.ref("turns.turn")} + ${sql.lit(1)}` }),
      )
      .returning("turn"),
  );
  return async (transaction, businessId) => Number((await turn(transaction, businessId)).rows[0]?.[0]);
}
