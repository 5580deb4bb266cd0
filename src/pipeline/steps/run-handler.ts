import type { HandledName } from "../../contract/index.ts";
import { createRandomToken } from "../../lib/crypto/crypto.ts";
import { createId } from "../../lib/ids.ts";
import type { HandlerContext, ReadContext, WriteContext } from "../../store/handler-context.ts";
import type { PipelineTransaction } from "../../store/port.ts";
import { toAuditContext } from "../audit/entries.ts";
import { recordChanges } from "../audit/with-audit.ts";
import type { Outcome, PipelineDeps, PreparedCall } from "../call.ts";
import { applyConfirmation } from "../confirmation.ts";
import { requireScopes } from "./authorize.ts";
import { checkQuota } from "./quota.ts";

export type AnyHandler = (
  work: ReadContext | WriteContext,
  input: Readonly<Record<string, unknown>>,
) => Promise<unknown>;

/** Runs the handler of an operation that reads. */
export async function runReadHandler(deps: PipelineDeps, call: PreparedCall): Promise<Outcome> {
  const handler = deps.handlers[call.name as HandledName] as AnyHandler;
  const { businessId } = call.caller;
  const store = call.operation.paginated ? await deps.store.listReader(businessId) : deps.store.reader(businessId);
  const context: ReadContext = { ...createHandlerContext(deps, call), store, narrowing: call.call.narrowing };
  const result = await handler(context, call.input);
  return { result, replayed: false, changed: false };
}

/** Runs the handler of an operation that writes, with its quota, confirmation, events and audit entries. */
export async function runWriteHandler(
  deps: PipelineDeps,
  prepared: PreparedCall,
  transaction: PipelineTransaction,
): Promise<unknown> {
  const { operation, caller, call, name, input } = prepared;
  const { quota } = operation;
  if (quota) await checkQuota(deps.options, prepared, transaction, quota);
  const auditContext = { ...toAuditContext(prepared), approvedBy: call.confirmed?.approvedBy };
  return recordChanges(transaction, auditContext, async (emit) => {
    const handler = deps.handlers[name as HandledName] as AnyHandler;
    const result = await handler({ ...createHandlerContext(deps, prepared), store: transaction, emit }, input);
    if (call.confirmed) await applyConfirmation(transaction, call.confirmed);
    if (quota) await transaction.useQuota(caller.tokenId, quota);
    return result;
  });
}

export function createHandlerContext(
  { links }: Pick<PipelineDeps, "links">,
  { caller, now, call }: PreparedCall,
): HandlerContext {
  return {
    caller,
    links,
    privacy: call.privacy,
    now: now.toISOString(),
    newId: createId,
    newSecret: createRandomToken,
    requireScopes: (...scopes) => requireScopes(caller, scopes),
  };
}
