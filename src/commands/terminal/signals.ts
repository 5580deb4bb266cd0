import { constants } from "node:os";

/** What tells a process to stop. */
export const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Work that somebody stopped before it was done; the process ends as a shell expects of one that a signal ended. */
export class Interrupted extends Error {
  /** 129 for SIGHUP, 130 for SIGINT, 143 for SIGTERM. */
  readonly exitCode: number;

  constructor(signal: (typeof stopSignals)[number], message: string) {
    super(message);
    this.name = "Interrupted";
    this.exitCode = 128 + constants.signals[signal];
  }
}

export interface Interruption extends Disposable {
  /** Aborted, with an `Interrupted`, by the usual signals. */
  readonly signal: AbortSignal;
}

/**
 * Lets work end at a good moment when the process is told to stop; a second signal ends it at once.
 * @param left - what is left behind, in a sentence
 */
export function onInterrupt(left: string): Interruption {
  const stopping = new AbortController();
  const listeners = stopSignals.map((name) => [name, () => stopping.abort(new Interrupted(name, left))] as const);
  for (const [name, stop] of listeners) process.once(name, stop);
  return {
    signal: stopping.signal,
    [Symbol.dispose]() {
      for (const [name, stop] of listeners) process.off(name, stop);
    },
  };
}
