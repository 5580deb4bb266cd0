import { type EventPayload, events } from "../../contract/events.ts";
import { createId } from "../../lib/ids.ts";
import type { Author, WriteContext } from "../../store/handler-context.ts";
import type { PipelineTransaction, Store } from "../../store/port.ts";
import { type AuditContext, createAuditEntries } from "./entries.ts";

/** The operator, who gives no name on the command line. */
export const commandLine: Author = { actorType: "user", actorId: "command_line" };

/** A change that is made outside a call: by a worker, in the portal or on the command line. */
export interface AuditedChange extends Omit<AuditContext, "tokenId" | "requestId" | "reason"> {
  readonly requestId?: string;
  readonly reason?: string | null;
}

/** Makes a change outside a call, in one transaction with its events and audit entries. */
export function withAudit<R>(
  store: Pick<Store, "transaction">,
  change: AuditedChange,
  work: (transaction: PipelineTransaction, emit: WriteContext["emit"], context: AuditContext) => Promise<R>,
): Promise<R> {
  const { businessId, actorId, now } = change;
  const context = { requestId: createId("req"), reason: null, ...change, tokenId: null };
  return store.transaction({ businessId, actorId, now: now.toISOString() }, (transaction) =>
    recordChanges(transaction, context, (emit) => work(transaction, emit, context)),
  );
}

/** Runs work that writes, and appends its events and the audit entries of its changes to the same transaction. */
export async function recordChanges<R>(
  transaction: PipelineTransaction,
  context: AuditContext,
  work: (emit: WriteContext["emit"]) => Promise<R>,
): Promise<R> {
  const { newId = createId } = context;
  const outbox: EventPayload[] = [];
  const result = await work((type, data) => {
    outbox.push({
      eventType: type,
      eventId: newId("evt"),
      timestamp: context.now.toISOString(),
      data: events[type].parse({ businessId: context.businessId, ...data }) as EventPayload["data"],
    });
  });
  await transaction.appendEvents(outbox);
  await transaction.appendAudit(createAuditEntries(context, transaction.changes));
  return result;
}
