import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Token } from "../../src/contract/access/tokens.ts";
import type { AuditEntry } from "../../src/contract/audit.ts";
import { type DemoOptions, seedDemo } from "../../src/demo/seed.ts";
import { openDirectoryBlobStore } from "../../src/store/blobs/directory-blob-store.ts";
import { openStore } from "../../src/store/open.ts";
import type { BlobStore, Business, Store } from "../../src/store/port.ts";
import { type Row, type TableName, tables } from "../../src/store/tables.ts";

export const now = new Date("2026-11-20T09:00:00.000Z");

export type Rows = { readonly [T in TableName]: readonly Row<T>[] };

/** Everything that one organisation has. */
export interface Tenant {
  readonly business: Business;
  readonly rows: Rows;
  readonly audit: readonly AuditEntry[];
  readonly tokens: readonly Token[];
}

export interface Seeded {
  readonly store: Store;
  readonly content: BlobStore;
  readonly tenants: readonly [main: Tenant, other: Tenant];
  close(): Promise<void>;
}

/** A database in memory with demonstration data, and all of it read back. */
export async function openSeeded(options: Partial<DemoOptions> = {}): Promise<Seeded> {
  const folder = await mkdtemp(join(tmpdir(), "programme-demo-"));
  const store = await openStore({ database: ":memory:" });
  const content = openDirectoryBlobStore(folder);
  await seedDemo(store, content, { now, ...options });
  const tenants = await Promise.all((await store.listBusinesses()).map((business) => readTenant(store, business)));
  return {
    store,
    content,
    tenants: tenants as unknown as Seeded["tenants"],
    async close() {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function readTenant(store: Store, business: Business): Promise<Tenant> {
  const reader = store.reader(business.businessId);
  const rows: Record<string, unknown[]> = {};
  for (const table of Object.keys(tables) as TableName[]) {
    const all: unknown[] = [];
    for await (const row of reader.scan(table, {})) all.push(row);
    rows[table] = all;
  }
  const audit: AuditEntry[] = [];
  let lastEvaluatedKey: string | undefined;
  do {
    const page = await reader.pageAudit({}, { limit: 1000, lastEvaluatedKey });
    audit.push(...page.rows);
    lastEvaluatedKey = page.lastEvaluatedKey;
  } while (lastEvaluatedKey !== undefined);
  return { business, rows: rows as unknown as Rows, audit, tokens: await store.listTokens(business.businessId) };
}

export const tableNames = Object.keys(tables) as TableName[];

/** The ids of a table's rows. */
export function idsOf(rows: Rows, table: TableName): Set<unknown> {
  return new Set(rows[table].map((row) => (row as Record<string, unknown>)[tables[table].id]));
}

/** A table's rows by their id. */
export function byId<T extends TableName>(rows: Rows, table: T): Map<unknown, Row<T>> {
  return new Map(rows[table].map((row) => [(row as Record<string, unknown>)[tables[table].id], row]));
}

/** The version of a form that a record names. */
export function formOf(rows: Rows, schemaId: string, schemaVersion: number) {
  const form = rows.schemas.find((row) => row.schemaId === schemaId && row.schemaVersion === schemaVersion);
  if (!form) throw new Error(`No form ${schemaId} ${schemaVersion}`);
  return form;
}

/** The values that occur in a column. */
export function valuesOf<T>(rows: readonly T[], column: keyof T): Set<unknown> {
  return new Set(rows.map((row) => row[column]));
}
