import { sql } from "kysely";
import type { Db } from "../database.ts";

/** The rights of a role in its schema. Tables of other owners are not this program's. */
interface Held {
  readonly role: string;
  /** The schema in which tables are created; null if the role may use none. */
  readonly schema: string | null;
  readonly creates: boolean;
  /** The first table that the role may not read and change, if any. */
  readonly table: string | null;
}

/**
 * Returns the statement that grants the role what it needs to work on the database or to create its tables. Returns
 * undefined if it lacks nothing.
 */
export async function findMissingRights(
  db: Db,
  { makesTables }: { makesTables: boolean },
): Promise<string | undefined> {
  const { rows } = await sql<Held>`
    select quote_ident(current_user) as role, quote_ident(current_schema()) as schema,
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as creates,
      (select min(quote_ident(tablename)) from pg_tables where schemaname = current_schema() and tableowner = (
        select tableowner from pg_tables where schemaname = current_schema() and tablename = 'migrations') and not (
        has_table_privilege(quote_ident(schemaname) || '.' || quote_ident(tablename), 'select') and
        has_table_privilege(quote_ident(schemaname) || '.' || quote_ident(tablename), 'insert') and
        has_table_privilege(quote_ident(schemaname) || '.' || quote_ident(tablename), 'update') and
        has_table_privilege(quote_ident(schemaname) || '.' || quote_ident(tablename), 'delete'))) as "table"`.execute(
    db,
  );
  const [held] = rows;
  if (!held) return undefined;
  const { role, schema, creates, table } = held;
  if (schema === null) return `create schema authorization ${role}`;
  if (table !== null) return `grant select, insert, update, delete on all tables in schema ${schema} to ${role}`;
  return makesTables && !creates ? `grant create on schema ${schema} to ${role}` : undefined;
}
