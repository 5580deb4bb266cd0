import { once } from "node:events";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Stored } from "../queries/codec.ts";

export interface BatchOptions {
  /** Path of an existing file. */
  readonly path: string;
  readonly busyTimeoutMs: number;
}

/** A statement and the parameters of each run, all in one transaction. */
export interface Batch {
  readonly sql: string;
  readonly rows: readonly (readonly Stored[])[];
}

export type Task = Batch | "checkpoint";

export interface BatchOutcome {
  readonly error?: unknown;
}

/** Does work one after the other on a worker thread, so that no request waits for the disk. */
export interface BatchWriter {
  /** True after a batch, while the thread is running. */
  readonly started: boolean;
  /** Resolves when the batch is committed. Rejects when it is not, or when the result is unknown. */
  run(batch: Batch): Promise<void>;
  /** Moves commits from the log to the database: all that no reader needs in the log. */
  checkpoint(): Promise<void>;
  close(): Promise<void>;
}

export function createBatchWriter(options: BatchOptions): BatchWriter {
  let worker: Worker | undefined;
  let hasRunBatch = false;
  let last: Promise<unknown> = Promise.resolve();

  function getWorker(): Worker {
    if (worker) return worker;
    const started = start(options);
    started.once("exit", () => {
      if (worker === started) worker = undefined;
    });
    worker = started;
    return started;
  }

  async function runNow(task: Task): Promise<void> {
    const { error } = await awaitAnswer(getWorker(), task);
    if (error) throw error;
  }

  function runAfterOthers(task: Task): Promise<void> {
    const run = last.then(() => runNow(task));
    last = run.catch(() => undefined);
    return run;
  }

  return {
    get started() {
      return hasRunBatch && worker !== undefined;
    },
    run(batch) {
      hasRunBatch = true;
      return runAfterOthers(batch);
    },
    checkpoint: () => runAfterOthers("checkpoint"),
    async close() {
      await last;
      if (!worker) return;
      const exited = once(worker, "exit");
      worker.ref();
      worker.postMessage("close");
      await exited;
    },
  };
}

function start(workerData: BatchOptions): Worker {
  // The script has this file's extension: `.ts` in the sources, `.js` in a build.
  const script = new URL(`batch-thread${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(script, { workerData, execArgv: ["--disable-warning=ExperimentalWarning"] });
  // Between tasks no listener waits for the worker, and it must not keep the process alive.
  worker.on("error", () => undefined);
  worker.unref();
  return worker;
}

function awaitAnswer(worker: Worker, task: Task): Promise<BatchOutcome> {
  return new Promise((resolve, reject) => {
    const settle = (then: () => void) => {
      worker.off("message", handleAnswer).off("error", handleFailure).off("exit", handleExit);
      worker.unref();
      then();
    };
    const handleAnswer = (outcome: BatchOutcome) => settle(() => resolve(outcome));
    const handleFailure = (error: unknown) => settle(() => reject(error));
    const handleExit = () => settle(() => reject(new Error("The thread that writes batches has ended")));
    worker.on("message", handleAnswer).on("error", handleFailure).on("exit", handleExit);
    worker.ref();
    worker.postMessage(task);
  });
}
