import { problem } from "../contract/errors.ts";
import type { Handler } from "../store/handler-context.ts";

export const list_audit_entries: Handler<"list_audit_entries"> = ({ store }, { limit, lastEvaluatedKey, ...filter }) =>
  store.pageAudit(filter, { limit, lastEvaluatedKey });

export const get_audit_entry: Handler<"get_audit_entry"> = async ({ store }, { auditId }) => {
  const entry = await store.getAudit(auditId);
  if (!entry) throw problem("not_found");
  return entry;
};
