import { closeSync, mkdirSync, openSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Kysely, sql } from "kysely";
import { Problem } from "../../contract/errors.ts";
import { type Database, type Db, holdConnection } from "../database.ts";
import type { Engine, Transact } from "../engine.ts";
import type { DiskState } from "../port.ts";
import { createTenantQueues } from "../tenant-queue.ts";
import { prepareCommitSequence } from "../tenant-sequence.ts";
import { createBatchWriter } from "./batch-writer.ts";
import { createSqliteDialect, createWriteDialects } from "./dialect.ts";
import { createRevisionReader } from "./revision.ts";

export interface SqliteSettings {
  /** Path of a file, or `:memory:`. A missing file is created with access for its owner only. */
  readonly database: string;
  /** Time that a transaction waits for another one before it fails with `unavailable`. */
  readonly busyTimeoutMs: number;
  /** Disables foreign key checks. */
  readonly unchecked?: boolean;
}

/** Batches of at least this size use the thread. Smaller ones block requests only briefly. */
const manyRows = 250;
/** Limits how long other writers wait. */
const rowsPerCommit = 250;

/**
 * A disk with less free space counts as full. The largest request is 1 MiB. It is stored twice, in a record and with
 * the stored answer, and each copy is written first to the log and later to the file.
 */
export const minFreeBytes = 4 * 1024 * 1024;

/** A disk counts as failing for this long after a failed commit: as long as callers are asked to wait. */
export const failingForMs = 60_000;

/** Opens a file. Transactions run one after the other. Tenants take turns. */
export async function openSqlite({ database, busyTimeoutMs, unchecked = false }: SqliteSettings): Promise<Engine> {
  const inMemory = database === ":memory:";
  const path = inMemory ? database : resolve(database);
  if (!inMemory) create(path);
  const disk = createDiskCheck(path);
  const options = { path, busyTimeoutMs, unchecked, onDiskFailure: disk.recordFailure };
  const batches = inMemory ? undefined : createBatchWriter({ path, busyTimeoutMs });
  const dialects = createWriteDialects(options, batches);
  const write = new Kysely<Database>({ dialect: dialects.write });
  const openReader = () => new Kysely<Database>({ dialect: createSqliteDialect({ ...options, role: "read" }) });
  const read = inMemory ? write : openReader();
  const relaxed = new Kysely<Database>({ dialect: dialects.relaxed });
  const transactRelaxed = createTransact(relaxed);
  /** Returns the result of a transaction when the disk has it. Others may commit until then. */
  async function confirm<R>(committing: Promise<R>): Promise<R> {
    const result = await committing;
    await dialects.confirm();
    return result;
  }
  const transact: Transact = (work) => confirm(transactRelaxed(work));
  const takeCommitNumber = prepareCommitSequence(write);
  const runInTurn = createTenantQueues(busyTimeoutMs);
  async function close() {
    await read.destroy();
    // Both: an instance closes the connection only if it has used it.
    await Promise.all([write.destroy(), relaxed.destroy()]);
    await batches?.close();
  }
  try {
    if (!inMemory) await holdConnection(read);
  } catch (error) {
    await close();
    throw toUnusableError(path, error);
  }

  return {
    write,
    read,
    transact,
    transactRelaxed,
    transactSerially: (businessId, work) =>
      confirm(
        runInTurn(businessId, () => transactRelaxed(async (db) => work(db, await takeCommitNumber(db, businessId)))),
      ),
    // A write transaction already excludes all others.
    transactExclusively: transact,
    snapshot: inMemory ? transact : (work) => readSnapshot(openReader(), work),
    ...(inMemory ? {} : { revision: createRevisionReader(read), checkDisk: disk.check }),
    async runAll(statement, rows) {
      const aside = batches && (batches.started || rows.length >= manyRows) ? batches : undefined;
      for (let start = 0; start < rows.length; start += rowsPerCommit) {
        const batch = rows.slice(start, start + rowsPerCommit);
        // Holds the write connection, because transactions that follow each other at once leave the thread no moment.
        if (aside) await write.connection().execute(() => aside.run({ sql: statement.sql, rows: batch }));
        else
          await transactRelaxed(async (db) => {
            for (const row of batch) await statement(db, ...row);
          });
      }
    },
    close,
  };
}

/** Runs reads in one transaction, and closes their connection: other readers on it would see old rows. */
async function readSnapshot<R>(own: Db, work: (db: Db) => Promise<R>): Promise<R> {
  try {
    return await own.connection().execute(async (db) => {
      await sql`begin`.execute(db);
      // The snapshot begins with the first read.
      await sql`select 1 from sqlite_master limit 1`.execute(db);
      return work(db);
    });
  } finally {
    await own.destroy();
  }
}

/** Remembers commits that the disk has failed, and looks how much of it is free. */
function createDiskCheck(path: string) {
  let failedAtMs = Number.NEGATIVE_INFINITY;
  return {
    recordFailure(): void {
      failedAtMs = performance.now();
    },
    async check(): Promise<DiskState> {
      if (performance.now() - failedAtMs < failingForMs) return "failing";
      const { bavail, bsize } = await statfs(path);
      return bavail * bsize >= minFreeBytes ? "ok" : "full";
    },
  };
}

function createTransact(write: Db): Transact {
  return (work) =>
    write.transaction().execute(async (db) => {
      const release = await holdConnection(db);
      try {
        return await work(db);
      } finally {
        release();
      }
    });
}

/** Creates the database file with access for its owner only. */
function create(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    throw toUnusableError(path, error);
  }
}

const reasons: Readonly<Record<string, string>> = {
  EISDIR: "it is a directory",
  EEXIST: "its directory is a file",
  ENOTDIR: "its directory is a file",
  EACCES: "this user has no right to",
  EPERM: "this user has no right to",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
};

/** Adds the file's name to errors of the system and of SQLite. A `Problem` is returned unchanged. */
function toUnusableError(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Problem) return error;
  const { code = "", message } = error as NodeJS.ErrnoException;
  return new Error(`The database ${path} cannot be opened: ${reasons[code] ?? message}`, { cause: error });
}
