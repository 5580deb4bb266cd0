import { problem } from "../contract/errors.ts";

/** A mutex with a timeout. Waiters are served in the order of their requests. */
export class Mutex {
  readonly #timeoutMs: number;
  readonly #waiting = new Set<() => void>();
  #held = false;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Waits for the mutex.
   * @throws Problem `unavailable` after the timeout
   */
  acquire(): Promise<void> {
    if (!this.#held) {
      this.#held = true;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const enterMutex = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(enterMutex);
        reject(problem("unavailable", { retryAfterSeconds: 1 }));
      }, this.#timeoutMs);
      this.#waiting.add(enterMutex);
    });
  }

  release(): void {
    const next = this.#waiting.values().next().value;
    if (!next) {
      this.#held = false;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
