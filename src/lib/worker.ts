import { setTimeout as delay } from "node:timers/promises";

/** Work that goes on beside requests. */
export interface Worker {
  start(): void;
  /** Takes up nothing new, and ends when what is being done has ended or is given up in good order. */
  stop(): Promise<void>;
  state(): WorkerState;
}

/** `idle` before it was started and after it was stopped; `failing` while what it tried last did not work. */
export type WorkerState = "idle" | "running" | "failing";

/** The state of several as one: of the one that is worst off. */
export function combineWorkerStates(workers: readonly Worker[]): WorkerState {
  const states = workers.map((worker) => worker.state());
  if (states.includes("idle")) return "idle";
  return states.includes("failing") ? "failing" : "running";
}

export interface Loop {
  /** Does one piece of work; gives true when there may be more to do at once. The signal says that the end has come. */
  readonly step: (signal: AbortSignal) => Promise<boolean>;
  /** The pause after a step that found nothing to do, or failed. */
  readonly idleMs: number;
  /** Told of a step that failed after one that did not: of several in a row, of the first. */
  readonly failed: (error: unknown) => void;
}

/** A worker that takes one step after another. */
export function createLoop({ step, idleMs, failed }: Loop): Worker {
  const ending = new AbortController();
  let running: Promise<void> | undefined;
  let failing = false;

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const more = await step(signal).then(
        (found) => {
          failing = false;
          return found;
        },
        (error: unknown) => {
          if (!failing) failed(error);
          failing = true;
          return false;
        },
      );
      // Waiting for work keeps no process up.
      if (!more) await delay(idleMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  return {
    start() {
      running ??= run(ending.signal);
    },
    async stop() {
      ending.abort();
      await running;
    },
    state() {
      if (!running || ending.signal.aborted) return "idle";
      return failing ? "failing" : "running";
    },
  };
}
