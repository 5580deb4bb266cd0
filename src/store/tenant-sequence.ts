import { sql } from "kysely";
import { type Db, type PreparedStatement, prepareQuery } from "./database.ts";

/**
 * Prepares the statement that takes the next commit number of a tenant. The statement locks the tenant until the
 * transaction ends. Later reads in the transaction therefore see all commits of the tenant so far: with `read
 * committed` because each statement sees earlier commits, with stricter levels because a transaction with an older
 * snapshot fails here and runs again.
 * @returns a function that returns the commit number: one more than that of the tenant's last transaction
 */
export function prepareCommitSequence(db: Db): (transaction: Db, businessId: string) => Promise<number> {
  const increment: PreparedStatement = prepareQuery(
    db
      .insertInto("tenantSequences")
      .values({ businessId: "", commitNumber: sql.lit(1) })
      .onConflict((conflict) =>
        conflict
          .column("businessId")
          .doUpdateSet({ commitNumber: sql`${sql.ref("tenantSequences.commitNumber")} + ${sql.lit(1)}` }),
      )
      .returning("commitNumber"),
  );
  return async (transaction, businessId) => Number((await increment(transaction, businessId)).rows[0]?.[0]);
}
