import { sql } from "kysely";
import type { Db } from "../../src/store/database.ts";
import { getAdapter } from "../../src/store/engine.ts";
import { readSchema } from "../../src/store/schema/read-schema.ts";
import type { StoredTable } from "../../src/store/schema/schema-introspection.ts";

const table = "submissions";

/** Divides the empty table of submissions, and leaves its foreign keys and those that refer to it as they were. */
export async function dividePartitions(db: Db, count: number): Promise<void> {
  const adapter = getAdapter(db);
  const references = await adapter.suspendReferences(db);
  const key = '"businessId"';
  const statements = [
    `create table divided (like ${table} including defaults including constraints) partition by hash (${key})`,
    `alter table divided add constraint "submissions_divided" primary key (${key}, "submissionId")`,
    `drop table ${table}`,
    `alter table divided rename to ${table}`,
    ...Array.from(
      { length: count },
      (_, index) =>
        `create table ${table}_${index} partition of ${table} for values with (modulus ${count}, remainder ${index})`,
    ),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
  await adapter.restoreReferences(db, references);
}

/**
 * Stores every submission several times, in PostgreSQL itself: under an id of its own, some seconds later, without
 * related rows.
 */
export async function copySubmissions(db: Db, copies: number, each: string): Promise<void> {
  const { columns } = (await readSchema(db)).find(({ name }) => name === table) as StoredTable;
  const names = columns.map(({ name }) => `"${name}"`).join(", ");
  await sql.raw(each).execute(db);
  await sql.raw(`create unlogged table originals as select * from ${table}`).execute(db);
  for (let copy = 1; copy < copies; copy++) {
    const later = (column: string) =>
      `to_char(("${column}"::timestamptz + interval '${copy * 15} s') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    const changed: Readonly<Record<string, string>> = {
      submissionId: `substr("submissionId", 1, 14) || upper(substr(md5("submissionId" || ${copy}), 1, 16))`,
      createdAt: later("createdAt"),
      updatedAt: later("updatedAt"),
      submittedAt: later("submittedAt"),
    };
    const values = columns.map(({ name }) => changed[name] ?? `"${name}"`).join(", ");
    await sql.raw(`insert into ${table} (${names}) select ${values} from originals`).execute(db);
  }
  await sql.raw("drop table originals").execute(db);
}
