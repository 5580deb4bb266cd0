import { setTimeout as delay } from "node:timers/promises";

/** Background work. */
export interface Worker {
  start(): void;
  /** Takes no new work, and resolves when the current work has ended or was released. */
  stop(): Promise<void>;
  state(): WorkerState;
}

/** `idle` before the start and after `stop`; `failing` while the last step failed. */
export type WorkerState = "idle" | "running" | "failing";

/** Returns the worst state of several workers. */
export function combineWorkerStates(workers: readonly Worker[]): WorkerState {
  const states = workers.map((worker) => worker.state());
  if (states.includes("idle")) return "idle";
  return states.includes("failing") ? "failing" : "running";
}

export interface Loop {
  /** Does one piece of work. Returns true if there may be more to do at once. The signal is aborted by `stop`. */
  readonly step: (signal: AbortSignal) => Promise<boolean>;
  /** Pause after a step that found nothing to do, or failed. */
  readonly idleMs: number;
  /** Called for the first failed step of a series. */
  readonly failed: (error: unknown) => void;
}

/** Creates a worker that runs one step after another. */
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
      // A waiting worker does not keep the process alive.
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
