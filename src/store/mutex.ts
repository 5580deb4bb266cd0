import { problem } from "../contract/errors.ts";
import { WaitQueue } from "../lib/collections/wait-queue.ts";

/** A mutex with a timeout. Waiters are served in the order of their requests. */
export class Mutex {
  readonly #timeoutMs: number;
  readonly #waiting = new WaitQueue();
  #held = false;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Waits for the mutex.
   * @throws Problem `unavailable` after the timeout
   */
  async acquire(): Promise<void> {
    if (!this.#held) this.#held = true;
    else if (!(await this.#waiting.wait(this.#timeoutMs))) throw problem("unavailable", { retryAfterSeconds: 1 });
  }

  release(): void {
    // The mutex stays held for the next one.
    if (!this.#waiting.releaseNext()) this.#held = false;
  }
}
