import type { BatchWriter } from "./batch-writer.ts";

/** Pages in the log from which commits are moved to the database: as many as by SQLite's default. */
const pagesToMove = 1_000;

/** Moves commits from the log to the database while requests go on. SQLite would do it within a commit. */
export interface Checkpoints {
  /** Begins to move commits if the log has many pages. */
  handleCommit(pages: number): void;
  /** Resolves when nothing is being moved. Nothing is moved afterwards. */
  close(): Promise<void>;
}

export interface CheckpointDeps {
  readonly thread: BatchWriter;
  /** Runs work while this process writes nothing. */
  readonly pauseWrites: (work: () => Promise<void>) => Promise<void>;
}

export function createCheckpoints({ thread, pauseWrites }: CheckpointDeps): Checkpoints {
  let running: Promise<void> | undefined;
  let isClosed = false;

  async function moveCommits(): Promise<void> {
    try {
      await thread.checkpoint();
      // SQLite writes from the start of the log again only after a moment in which all of it is in the database.
      await pauseWrites(() => thread.checkpoint());
    } catch {
      // A later commit tries again. A disk that fails reports itself when it fails a commit.
    } finally {
      running = undefined;
    }
  }

  return {
    handleCommit(pages) {
      if (pages >= pagesToMove && !isClosed) running ??= moveCommits();
    },
    async close() {
      isClosed = true;
      await running;
    },
  };
}
