import {
  type DatabaseConnection,
  type DatabaseIntrospector,
  type DataTypeNode,
  type Dialect,
  type Driver,
  type Expression,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
  type RawBuilder,
  sql,
} from "kysely";
import type { Db } from "../database.ts";
import type { EngineAdapter } from "../engine.ts";
import type { Stored } from "../queries/codec.ts";
import { postgresCatalogue, type SchemaQueries, type StoredTable } from "../schema/schema-introspection.ts";
import { type PostgresSessionOptions, Session } from "./session.ts";

export interface PostgresOptions extends PostgresSessionOptions {
  /** The collation that knows which letters are the lower case of which. */
  readonly letters: string;
  /** What begins a transaction. */
  readonly begin: string;
}

/** Kysely on `pg`. */
export class PostgresDialect implements Dialect {
  readonly #options: PostgresOptions;

  constructor(options: PostgresOptions) {
    this.#options = options;
  }

  createDriver(): Driver {
    return new PostgresDriver(this.#options);
  }

  createQueryCompiler(): QueryCompiler {
    return new Compiler();
  }

  createAdapter(): EngineAdapter {
    return new Adapter(this.#options.letters);
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new PostgresIntrospector(db);
  }
}

// Lists and their cursors go by bytes, as those of SQLite do, whatever the database sorts names by.
class Compiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    super.visitDataType(node);
    if (node.dataType === "text") this.append(' collate "C"');
  }
}

class Adapter extends PostgresAdapter implements EngineAdapter {
  readonly #letters: string;

  constructor(letters: string) {
    super();
    this.#letters = letters;
  }

  get locksRows(): boolean {
    return true;
  }

  async exists(db: Db, table: string): Promise<boolean> {
    // Also one that the user has no right to, which `information_schema` does not show.
    const named = sql`select 1 from pg_tables where tablename = ${table}`;
    const found = await sql`${named} and schemaname = current_schema()`.execute(db);
    return found.rows.length > 0;
  }

  lower(text: Expression<unknown>): RawBuilder<string> {
    return sql<string>`lower(${text} collate ${sql.id(this.#letters)})`;
  }

  get schemaQueries(): SchemaQueries {
    return postgresCatalogue;
  }

  async suspendReferences(db: Db): Promise<readonly string[]> {
    const { rows } = await sql<{ table: string; name: string; definition: string }>`
      select conrelid::regclass::text as table, conname::text as name, pg_get_constraintdef(oid) as definition
      from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`.execute(db);
    for (const { table, name } of rows) {
      await sql`alter table ${sql.raw(table)} drop constraint ${sql.id(name)}`.execute(db);
    }
    return rows.map(({ table, name, definition }) => `alter table ${table} add constraint "${name}" ${definition}`);
  }

  async restoreReferences(db: Db, statements: readonly string[]): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  }

  /** A list of each column's values: one statement for however many rows, and none of it to be planned anew. */
  async insertAll(db: Db, { name, columns }: StoredTable, rows: readonly (readonly Stored[])[]): Promise<void> {
    const names = columns.map((column) => sql.ref(column.name));
    const lists = columns.map(({ type }, index) => sql`${rows.map((row) => row[index])}::${sql.raw(type)}[]`);
    const unnested = sql`select * from unnest(${sql.join(lists)})`;
    await sql`insert into ${sql.table(name)} (${sql.join(names)}) ${unnested}`.execute(db);
  }
}

class PostgresDriver implements Driver {
  readonly #options: PostgresOptions;

  constructor(options: PostgresOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new Session(await this.#options.connect(), this.#options);
  }

  async beginTransaction(session: Session): Promise<void> {
    await session.begin(this.#options.begin);
  }

  async commitTransaction(session: Session): Promise<void> {
    await session.commit();
  }

  async rollbackTransaction(session: Session): Promise<void> {
    await session.rollback();
  }

  async releaseConnection(session: Session): Promise<void> {
    session.release();
  }

  /** Several databases of Kysely share connections: who has opened them ends them. */
  async destroy(): Promise<void> {}
}
