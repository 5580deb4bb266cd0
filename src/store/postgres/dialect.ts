import {
  type DatabaseConnection,
  type DataTypeNode,
  type Dialect,
  type Driver,
  type Expression,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from "kysely";
import type { Db } from "../database.ts";
import type { EngineAdapter } from "../engine.ts";
import type { Stored } from "../queries/codec.ts";
import { postgresCatalogue, type StoredTable } from "../schema/schema-introspection.ts";
import { type PostgresSessionOptions, Session } from "./session.ts";
import { textSearchIndex } from "./text-search-index.ts";

export interface PostgresOptions extends PostgresSessionOptions {
  /** The collation that lower-cases all letters. */
  readonly letters: string;
  /** The statement that begins a transaction. */
  readonly begin: string;
}

/** Returns a Kysely dialect for `pg`. */
export function createPostgresDialect(options: PostgresOptions): Dialect {
  return {
    createDriver: () => new PostgresDriver(options),
    createQueryCompiler: () => new Compiler(),
    createAdapter: (): EngineAdapter => new Adapter(options.letters),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}

// Compares text by bytes, as SQLite does, so that lists and cursors have the same order with every database collation.
class Compiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    super.visitDataType(node);
    if (node.dataType === "text") this.append(' collate "C"');
  }
}

class Adapter extends PostgresAdapter implements EngineAdapter {
  readonly locksRows = true;
  readonly fullTextIndex = textSearchIndex;
  readonly schemaQueries = postgresCatalogue;
  readonly #letters: string;

  constructor(letters: string) {
    super();
    this.#letters = letters;
  }

  async exists(db: Db, table: string): Promise<boolean> {
    // Also finds tables that the user has no rights to, which `information_schema` does not show.
    const named = sql`select 1 from pg_tables where tablename = ${table}`;
    const found = await sql`${named} and schemaname = current_schema()`.execute(db);
    return found.rows.length > 0;
  }

  lower(text: Expression<unknown>): RawBuilder<string> {
    return sql<string>`lower(${text} collate ${sql.id(this.#letters)})`;
  }

  listValues(texts: readonly string[]): RawBuilder<{ value: string }> {
    return sql`json_array_elements_text(${JSON.stringify(texts)}::json)`;
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

  /** Passes one array for each column: a single statement for any number of rows, which the server plans once. */
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

  /** Several Kysely databases share connections. Their opener ends them. */
  async destroy(): Promise<void> {}
}
