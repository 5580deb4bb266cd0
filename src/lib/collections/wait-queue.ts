/** Callers that wait, each for a limited time. They go on in the order in which they came. */
export class WaitQueue {
  readonly #waiting = new Set<() => void>();

  /** Number of callers that wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Waits for `releaseNext`. Returns false if the time is over before; the caller has left the queue then. */
  wait(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const goOn = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(goOn);
        resolve(false);
      }, timeoutMs);
      this.#waiting.add(goOn);
    });
  }

  /** Lets the first caller go on. Returns false if nobody waits. */
  releaseNext(): boolean {
    const [next] = this.#waiting;
    if (!next) return false;
    this.#waiting.delete(next);
    next();
    return true;
  }
}
