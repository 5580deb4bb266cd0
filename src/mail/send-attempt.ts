import { Readable } from "node:stream";

/** Limits an attempt to send a message. */
export interface AttemptLimits {
  /** Records durably that the message is about to be handed over; returns false if it must not be. */
  readonly handOver: () => Promise<boolean>;
  /** Ends the attempt: at once before the message is handed over, soon afterwards. */
  readonly signal: AbortSignal;
  /** Limits the time until the message is handed over, and again the time until the answer. */
  readonly timeoutMs: number;
}

/** Limits the wait for the answer to a message after the attempt must end. */
const drainMs = 10_000;

/** Tracks the progress and the deadline of one attempt to send a message. */
export class SendAttempt {
  readonly #limits: AttemptLimits;
  readonly #over = Promise.withResolvers<never>();
  readonly #onAbort = () => this.#hurry();
  #timer: NodeJS.Timeout | undefined;
  #ended = false;
  #handedOver = false;
  #stopped = false;

  constructor(limits: AttemptLimits) {
    this.#limits = limits;
    // Usually nothing waits for it.
    this.#over.promise.catch(() => undefined);
    this.#endIn(limits.timeoutMs);
    limits.signal.addEventListener("abort", this.#onAbort);
    if (limits.signal.aborted) this.#hurry();
  }

  /** Returns whether the message may have reached the server. */
  get handedOver(): boolean {
    return this.#handedOver;
  }

  /** Returns whether the attempt was stopped before the message was handed over. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Waits for work; rejects when the attempt ends before. */
  race<R>(work: Promise<R>): Promise<R> {
    return Promise.race([work, this.#over.promise]);
  }

  /** Streams the message, which is not read before the server asks for it. */
  streamContent(bytes: Buffer): Readable {
    return Readable.from(this.#content(bytes));
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#limits.signal.removeEventListener("abort", this.#onAbort);
  }

  async *#content(bytes: Buffer): AsyncGenerator<Buffer> {
    const allowed = await this.#limits.handOver();
    // The attempt may have ended during the write.
    if (!allowed || this.#ended || this.#stopped) {
      this.#stopped = true;
      throw new Error("The message is not to be handed over");
    }
    this.#handedOver = true;
    this.#endIn(this.#limits.timeoutMs);
    yield bytes;
  }

  #hurry(): void {
    if (this.#handedOver) {
      this.#endIn(Math.min(drainMs, this.#limits.timeoutMs));
    } else {
      this.#stopped = true;
      this.#over.reject(new Error("The attempt was stopped"));
    }
  }

  #endIn(ms: number): void {
    clearTimeout(this.#timer);
    const late = Object.assign(new Error("No answer in time"), { code: "ETIMEDOUT" });
    this.#timer = setTimeout(() => this.#over.reject(late), ms);
  }
}
