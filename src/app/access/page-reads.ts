import * as z from "zod";
import { Problem } from "../../contract/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { createAccessEntry } from "../../pipeline/audit/entries.ts";
import type { OperationPipeline } from "../../pipeline/execute.ts";
import { requireScopes } from "../../pipeline/steps/authorize.ts";
import type { Store } from "../../store/port.ts";
import type { ReadForPage, TenantRecords } from "../../transport/console/admin-services.ts";

const Params = z.object({ entityId: z.string() });

/**
 * Creates the way to records for which the interface has no operation. It is that of an operation: a permit of the
 * person's rate, the scopes, the person's organisation, and an entry in the audit.
 */
export function createPageReads(store: Store, clock: Clock, pipeline: Pick<OperationPipeline, "admit">): ReadForPage {
  return async ({ caller, requestId }, { audit, scopes, entityId }, read) => {
    const admission = await pipeline.admit({ token: undefined, caller, requestId });
    if (!admission.ok) throw admission.problem;
    const operation = { audit, params: Params };
    const audited = { caller, operation, requestId, input: { entityId }, now: clock.now() };
    const record = (status: number) => store.appendAccess([createAccessEntry(audited, status)]);
    try {
      requireScopes(caller, scopes);
      const result = await read(openTenantRecords(store, caller.businessId));
      await record(200);
      return result;
    } catch (error) {
      if (error instanceof Problem) await record(error.status);
      throw error;
    }
  };
}

function openTenantRecords(store: Store, businessId: string): TenantRecords {
  const { outbox } = store;
  return {
    records: store.reader(businessId),
    listDeliveries: (filter, limit) => outbox.listDeliveries(businessId, filter, limit),
    getDelivery: (deliveryId) => outbox.getDelivery(businessId, deliveryId),
    listAttempts: (deliveryId) => outbox.listAttempts(businessId, deliveryId),
  };
}
