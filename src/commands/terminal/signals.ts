import { constants } from "node:os";

/** The signals that stop a process. */
export const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Thrown when a signal stopped the work. The process exits as shells expect after that signal. */
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
  /** Aborted with an `Interrupted` by a stop signal. */
  readonly signal: AbortSignal;
}

/**
 * Lets work stop at a safe point after a stop signal. A second signal ends the process at once.
 * @param left - describes what remains, in a sentence
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
