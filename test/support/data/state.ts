import type { AuditEntry } from "../../../src/contract/audit.ts";
import type { Store } from "../../../src/store/port.ts";
import { type TableName, tables } from "../../../src/store/tables.ts";

/** Everything that one tenant's requests could have changed: rows, events and audit entries of changes. */
export async function readState(store: Store, businessId: string): Promise<Record<string, readonly unknown[]>> {
  const reader = store.reader(businessId);
  const state: Record<string, readonly unknown[]> = {};
  for (const table of Object.keys(tables) as TableName[]) {
    const rows: unknown[] = [];
    for await (const row of reader.scan(table, {})) rows.push(row);
    state[table] = rows;
  }
  return { ...state, events: await store.listEvents(businessId, 100_000), audit: await listChanges(store, businessId) };
}

/** The audit entries of changes, newest first. */
export function listChanges(store: Store, businessId: string): Promise<AuditEntry[]> {
  return listAudit(store, businessId, undefined);
}

/** The audit entries of one action, requests that changed nothing too, newest first. */
export async function listAudit(store: Store, businessId: string, action: string | undefined): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  let lastEvaluatedKey: string | undefined;
  do {
    const page = await store.reader(businessId).pageAudit({ action }, { limit: 500, lastEvaluatedKey });
    entries.push(...page.rows);
    lastEvaluatedKey = page.lastEvaluatedKey;
  } while (lastEvaluatedKey !== undefined);
  return entries;
}
