/** Remembers what was logged, so that a line about the same subject is not repeated at once. */
export class LogOnce {
  readonly #intervalMs: number;
  readonly #loggedMs = new Map<string, number>();

  /** @param intervalMs - the time after which a line may be repeated; without it, only a reset allows that */
  constructor(intervalMs = Number.POSITIVE_INFINITY) {
    this.#intervalMs = intervalMs;
  }

  /** Returns whether a line must be logged now, and counts it as logged. The caller bounds the number of subjects. */
  isDue(subject = "", nowMs = 0): boolean {
    const loggedMs = this.#loggedMs.get(subject);
    if (loggedMs !== undefined && nowMs - loggedMs < this.#intervalMs) return false;
    this.#loggedMs.set(subject, nowMs);
    return true;
  }

  /** Allows the next line about each subject. */
  reset(): void {
    this.#loggedMs.clear();
  }
}
