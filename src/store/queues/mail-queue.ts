import { createId } from "../../lib/ids.ts";
import { type Db, type PreparedStatement, prepareQuery } from "../database.ts";
import { skipLocked, type Transact } from "../engine.ts";
import { createLeasedRows } from "./leased-rows.ts";
import type { MailLease, MailQueue } from "./work-queues.ts";

const messages = createLeasedRows("mailQueue", "emailSendId");

/** The queue on one database. A message that is leased is due again when the lease ends. */
export function createMailQueue(read: Db, transact: Transact): MailQueue {
  const listTenants = prepareTenantsWithMail(read);
  let last = "";
  return {
    async lease(now, until) {
      const tenants = (await listTenants(read, now)).rows.map(([businessId]) => String(businessId));
      // In turn: a tenant's many messages must not hold up another's few.
      const businessId = tenants.find((tenant) => tenant > last) ?? tenants[0];
      if (businessId === undefined) return undefined;
      last = businessId;
      return transact((db) => createLease(db, businessId, now, until));
    },
    markHandedOver: (lease, handedOverAt, until) =>
      transact((db) => messages.update(db, lease, { handedOverAt, dueAt: until })),
    async giveBack(lease, dueAt) {
      await transact((db) => messages.update(db, lease, { leaseId: "", dueAt, handedOverAt: null }));
    },
  };
}

/** Puts a message into the queue that has just become one to be sent. */
export async function enqueueMail(db: Db, businessId: string, emailSendId: string, dueAt: string): Promise<void> {
  const fresh = { dueAt, attempt: 0, leaseId: "", handedOverAt: null };
  await db
    .insertInto("mailQueue")
    .values({ businessId, emailSendId, ...fresh })
    .onConflict((conflict) => conflict.columns(["businessId", "emailSendId"]).doUpdateSet(fresh))
    .execute();
}

/** See `PipelineTransaction.settleMail`. */
export async function settleMail(db: Db, lease: MailLease, dueAt: string | undefined): Promise<boolean> {
  if (dueAt !== undefined) {
    return messages.update(db, lease, { leaseId: "", dueAt, attempt: lease.attempt + 1, handedOverAt: null });
  }
  return messages.delete(db, lease);
}

/** Selects the tenants whose messages are due at a time. It is polled often, so it is compiled once. */
function prepareTenantsWithMail(read: Db): PreparedStatement {
  return prepareQuery(
    read
      .selectFrom("businesses")
      .select("businesses.businessId")
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom("mailQueue")
            .select("mailQueue.emailSendId")
            .whereRef("mailQueue.businessId", "=", "businesses.businessId")
            .where("mailQueue.dueAt", "<=", ""),
        ),
      )
      .orderBy("businesses.businessId"),
  );
}

async function createLease(db: Db, businessId: string, now: string, until: string): Promise<MailLease | undefined> {
  const ofTenant = db.selectFrom("mailQueue").selectAll().where("businessId", "=", businessId);
  const waiting = ofTenant.where("dueAt", "<=", now).orderBy("dueAt").orderBy("emailSendId").limit(1);
  const due = await skipLocked(db, waiting).executeTakeFirst();
  if (!due) return undefined;
  const found: MailLease = {
    businessId,
    emailSendId: String(due["emailSendId"]),
    leaseId: String(due["leaseId"]),
    attempt: Number(due["attempt"]),
    handedOverAt: due["handedOverAt"] === null ? undefined : String(due["handedOverAt"]),
  };
  const leaseId = createId("lse");
  return (await messages.update(db, found, { leaseId, dueAt: until })) ? { ...found, leaseId } : undefined;
}
