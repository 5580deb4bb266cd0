import { type EventPayload, events } from "../contract/events.ts";
import { createId } from "../lib/ids.ts";
import type { WriteContext } from "../store/handler-context.ts";
import type { PipelineTransaction } from "../store/port.ts";
import { type AuditContext, createAuditEntries } from "./audit.ts";

/** Runs work that writes. The events that it emits and the audit entries of its changes are of the same transaction. */
export async function withAudit<R>(
  transaction: PipelineTransaction,
  act: AuditContext,
  work: (emit: WriteContext["emit"]) => Promise<R>,
): Promise<R> {
  const outbox: EventPayload[] = [];
  const result = await work((type, data) => {
    outbox.push({
      eventType: type,
      eventId: createId("evt"),
      timestamp: act.now.toISOString(),
      data: events[type].parse({ businessId: act.businessId, ...data }) as EventPayload["data"],
    });
  });
  await transaction.appendEvents(outbox);
  await transaction.appendAudit(createAuditEntries(act, transaction.changes));
  return result;
}
