/**
 * While several tenants use the process, nothing begins in a turn of the event loop that has taken so many microseconds.
 * A call passes several turns, so a short one shortens each wait.
 */
export const maxTurnSharedUs = 500;

/** Resolves when all callbacks of promises have run: a call that has started waits for something else then. */
export function runUntilItWaits(): Promise<void> {
  // A tick that is asked for within such a callback comes after all of them, otherwise before.
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}
