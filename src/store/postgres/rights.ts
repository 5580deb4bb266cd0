import { sql } from "kysely";
import type { Db } from "../database.ts";

/** What a role may do with the schema that it works in. Tables of other owners there are not this program's. */
interface Held {
  readonly role: string;
  /** The schema that tables are made in; null where there is none that may be used. */
  readonly schema: string | null;
  readonly creates: boolean;
  /** The first table that may not be read and changed, if there is one. */
  readonly table: string | null;
}

/**
 * Returns the statement that gives the role what it lacks to work on the database, or to make its tables; undefined
 * where it lacks nothing.
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
