import type { Db } from "../database.ts";

type Lease<Id extends string> = Readonly<Record<Id | "businessId" | "leaseId", string>>;

/** The rows of a queue, each changed only by the holder of its lease. The results are false for anyone else. */
export interface LeasedRows<Id extends string> {
  update(db: Db, lease: Lease<Id>, values: Readonly<Record<string, string | number | null>>): Promise<boolean>;
  delete(db: Db, lease: Lease<Id>): Promise<boolean>;
}

export function createLeasedRows<Id extends string>(table: string, id: Id): LeasedRows<Id> {
  const selectKey = (lease: Lease<Id>) => ({
    businessId: lease.businessId,
    [id]: lease[id],
    leaseId: lease.leaseId,
  });
  return {
    async update(db, lease, values) {
      const update = db.updateTable(table).set(values);
      const { numUpdatedRows } = await update.where((eb) => eb.and(selectKey(lease))).executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
    async delete(db, lease) {
      const rows = db.deleteFrom(table).where((eb) => eb.and(selectKey(lease)));
      const { numDeletedRows } = await rows.executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
  };
}
