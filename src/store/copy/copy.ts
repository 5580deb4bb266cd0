import { existsSync } from "node:fs";
import { isPostgresAddress } from "../../lib/postgres-address.ts";
import type { Db } from "../database.ts";
import { getAdapter } from "../engine.ts";
import { migrateDatabase, readMigrationStatus } from "../migrations/migrate.ts";
import { openEngine, type StoreOptions } from "../open.ts";
import { readSchema } from "../schema/read-schema.ts";
import type { StoredTable } from "../schema/schema-introspection.ts";
import { readSourceKey } from "../settings.ts";
import { type Checkpoint, moveCheckpoint, readCheckpoint } from "./checkpoint.ts";
import { type CopySides, reconcileTable } from "./reconcile.ts";
import { computeTableDigest, countRows, getRowKey, type RowValues, readBatches, type TableDigest } from "./rows.ts";
import { CopyRefused, finishTarget, notCopied, prepareTarget, readFreeCheckpoint } from "./target.ts";

export interface CopyOptions {
  readonly from: StoreOptions;
  readonly to: StoreOptions;
  /** Receives the progress from 0 to 1. If it throws, the copy stops and can be continued later. */
  readonly onProgress?: (share: number) => void;
}

/** A table of both databases. */
export interface ComparedTable {
  readonly table: string;
  readonly from: TableDigest;
  readonly to: TableDigest;
  readonly same: boolean;
}

export interface CopyReport {
  readonly tables: readonly ComparedTable[];
  /** Continued an earlier copy. */
  readonly resumed: boolean;
}

/**
 * Copies a whole database as it is when the copy begins, and compares every row. An interrupted copy continues where
 * it stopped. A finished copy that nobody has used yet is updated.
 * @throws CopyRefused for a source or target that cannot be copied
 * @throws Error when the databases differ at the end
 */
export function copyDatabase({ from, to, onProgress = () => undefined }: CopyOptions): Promise<CopyReport> {
  return withBoth(from, to, "write", async (both) => {
    const { source, target, tables } = both;
    const resumed = (await readCheckpoint(target.read)) !== undefined;
    const mark = await prepareTarget(target, await readUsedKey(source));
    const step = await createProgressReporter(source, tables, onProgress);
    const copied = await copyRows(both, mark, step);
    const compared: ComparedTable[] = [];
    for (const table of tables) compared.push(await settle(both, table, step));
    await finishTarget(target, copied);
    return { tables: compared, resumed };
  });
}

/** Compares every row of two databases, and changes nothing. */
export function compareDatabases({ from, to, onProgress = () => undefined }: CopyOptions): Promise<CopyReport> {
  return withBoth(from, to, "read", async ({ source, target, tables }) => {
    const step = await createProgressReporter(source, tables, onProgress, 1);
    const compared = await target.snapshot(async (db) => {
      const found: ComparedTable[] = [];
      for (const table of tables) found.push(await compare(source, db, table, step));
      return found;
    });
    return { tables: compared, resumed: false };
  });
}

interface Both extends CopySides {
  readonly tables: readonly StoredTable[];
}

async function withBoth<R>(
  from: StoreOptions,
  to: StoreOptions,
  use: "read" | "write",
  work: (both: Both) => Promise<R>,
): Promise<R> {
  if (from.database === to.database) throw new CopyRefused("Both are the same database.");
  requireDatabase(from);
  if (use === "read") requireDatabase(to);
  const source = await openEngine(from);
  try {
    await requireCurrentVersion(source.read, "The database to copy");
    await readUsedKey(source.read);
    const target = await openEngine(to, { unchecked: true });
    try {
      if (use === "write") {
        // Checked first: a database that belongs to somebody else must not be migrated.
        await readFreeCheckpoint(target.read);
        await migrateDatabase(target);
      }
      await requireCurrentVersion(target.read, use === "write" ? "The database to fill" : "The other database");
      return await source.snapshot(async (db) =>
        work({ source: db, target, tables: await listCommonTables(db, target.read) }),
      );
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Lists the tables that both databases have. Foreign tables in one of them are not copied. */
async function listCommonTables(source: Db, target: Db): Promise<StoredTable[]> {
  const there = new Set((await readSchema(source)).map(({ name }) => name));
  return (await readSchema(target)).filter(({ name }) => there.has(name) && !notCopied.has(name));
}

function requireDatabase({ database }: StoreOptions): void {
  if (isPostgresAddress(database) || existsSync(database)) return;
  throw new CopyRefused(`There is no database at ${database}.`);
}

async function requireCurrentVersion(db: Db, what: string): Promise<void> {
  const { applied, pending, unknown } = await readMigrationStatus(db);
  if (applied.length === 0) throw new CopyRefused(`${what} holds none of this program's tables.`);
  if (pending.length > 0) {
    throw new CopyRefused(`${what} is not at this version (${pending.join(", ")}): run programme-mcp migrate on it.`);
  }
  if (unknown.length > 0)
    throw new CopyRefused(`${what} is of a later version of this program (${unknown.join(", ")}).`);
}

async function readUsedKey(source: Db): Promise<string> {
  const key = await readSourceKey(source);
  if (key === undefined) throw new CopyRefused("The database to copy is empty.");
  if (await readCheckpoint(source))
    throw new CopyRefused("The database to copy is itself a copy, not taken into use yet.");
  return key;
}

/** Copying a row and comparing it count as two steps. */
async function createProgressReporter(
  source: Db,
  tables: readonly StoredTable[],
  onProgress: (share: number) => void,
  steps = 2,
): Promise<(rows: number) => void> {
  let [total, done] = [0, 0];
  for (const table of tables) total += steps * (await countRows(source, table));
  return (rows) => {
    done += rows;
    onProgress(total === 0 ? 1 : Math.min(1, done / total));
  };
}

async function copyRows(both: Both, begun: Checkpoint, step: (rows: number) => void): Promise<Checkpoint> {
  const { source, target, tables } = both;
  let mark = begun;
  for (const table of tables) {
    if (begun.table !== undefined && table.name < begun.table) {
      step(await countRows(source, table));
      continue;
    }
    const after = table.name === begun.table ? begun.after : undefined;
    // Changed values of copied rows could conflict with unique values of the next rows.
    if (after) await reconcileTable(both, table, () => step(0), after);
    for await (const rows of readBatches(source, table, { after })) {
      const next = { ...mark, table: table.name, after: getRowKey(table, rows.at(-1) as RowValues) };
      await target.transact(async (db) => {
        // First, so that of two concurrent copies one fails here and not on existing rows.
        await moveCheckpoint(db, mark, next);
        await getAdapter(db).insertAll(db, table, rows);
      });
      mark = next;
      step(rows.length);
    }
  }
  return mark;
}

async function compare(source: Db, target: Db, table: StoredTable, step: (rows: number) => void) {
  const [from, to] = await Promise.all([
    computeTableDigest(source, table, step),
    computeTableDigest(target, table, () => undefined),
  ]);
  return { table: table.name, from, to, same: from.sha256 === to.sha256 && from.rows === to.rows };
}

/** Compares a table, and corrects rows that changed in the source since they were copied. */
async function settle(both: CopySides, table: StoredTable, step: (rows: number) => void) {
  const { source, target } = both;
  const first = await compare(source, target.read, table, step);
  if (first.same) return first;
  await reconcileTable(both, table, () => step(0));
  const second = await compare(source, target.read, table, () => step(0));
  if (!second.same) throw new Error(`The rows of ${table.name} differ between the databases`);
  return second;
}
