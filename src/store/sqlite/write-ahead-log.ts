import { open } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";

/** The file to which SQLite writes commits before they reach the database. */
export interface WriteAheadLog {
  /**
   * Resolves when the disk has all commits so far. Waits on a thread of the system, so that no other request waits.
   * Commits that come during a wait share the next one. A commit whose wait fails is visible, and may or may not
   * survive a power failure.
   * @throws the error of the system, or of SQLite
   */
  sync(): Promise<void>;
  /** Returns true after a wait that failed. The next one needs the connection without an open transaction. */
  hasFailed(): boolean;
  /** Returns how many pages of commits are not in the database yet. Only outside a transaction. */
  countPages(): number;
  close(): Promise<void>;
}

/**
 * SQLite moves commits to the database itself when the log has so many pages. It then does so within a commit, in which
 * all requests wait for the disk. The program moves them earlier, on a thread (`checkpoints.ts`).
 */
const maxPages = 8_000;

/**
 * Opens the log of a connection with `synchronous = NORMAL`, in which SQLite itself waits for the disk only before it
 * moves commits from the log to the database (https://sqlite.org/pragma.html#pragma_synchronous).
 * @throws the error of the system, or of SQLite
 */
export async function openWriteAheadLog(db: DatabaseSync): Promise<WriteAheadLog> {
  // SQLite creates the file with the first read, and keeps it while a connection is open.
  db.exec("SELECT 1 FROM sqlite_master LIMIT 1");
  // The name as SQLite has resolved it: a path may be a symbolic link.
  const file = await open(`${db.location()}-wal`, "r+");
  const countPages = limitCheckpoints(db);
  let hasFailed = false;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function syncNow(): Promise<void> {
    try {
      // A system can forget what it has failed to write, and then report success. The database gets all commits again.
      if (hasFailed) moveCommits(db);
      else await file.datasync();
      hasFailed = false;
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  }

  function begin(): Promise<void> {
    const begun = syncNow().finally(() => {
      if (running === begun) running = undefined;
    });
    running = begun;
    return begun;
  }

  async function beginAfter(earlier: Promise<void>): Promise<void> {
    await earlier.catch(() => undefined);
    next = undefined;
    await begin();
  }

  return {
    sync() {
      if (!running) return begin();
      // The wait that is running may have begun before this commit.
      next ??= beginAfter(running);
      return next;
    },
    hasFailed: () => hasFailed,
    countPages: countPages ?? (() => 0),
    async close() {
      await Promise.allSettled([running, next]);
      await file.close();
    },
  };
}

/**
 * Leaves it to the program to move commits to the database, up to `maxPages`. Returns a function that counts the pages
 * of the log. Before SQLite 3.51, which does not report them, it returns undefined and SQLite moves commits as before.
 */
export function limitCheckpoints(db: DatabaseSync): (() => number) | undefined {
  const countPages = createPageCounter(db);
  if (countPages) db.exec(`PRAGMA wal_autocheckpoint = ${maxPages}`);
  return countPages;
}

type Progress = Readonly<Record<"busy" | "log" | "checkpointed", number>>;

function createPageCounter(db: DatabaseSync): (() => number) | undefined {
  const { version } = db.prepare("SELECT sqlite_version() AS version").get() as { version: string };
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < 3 || (major === 3 && minor < 51)) return undefined;
  const inspect = db.prepare("PRAGMA wal_checkpoint(NOOP)");
  return () => {
    try {
      const { log, checkpointed } = inspect.get() as Progress;
      return log - checkpointed;
    } catch {
      // The commit before has succeeded, and the next one counts again.
      return 0;
    }
  };
}

/** Moves all commits from the log to the database, and waits for the disk. */
function moveCommits(db: DatabaseSync): void {
  const moved = db.prepare("PRAGMA wal_checkpoint(FULL)").get() as Progress;
  if (moved.busy !== 0 || moved.checkpointed < moved.log) throw new Error("The log could not be moved to the database");
}
