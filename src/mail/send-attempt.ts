import { Readable } from "node:stream";

/** What an attempt is bound by. */
export interface AttemptLimits {
  /** Notes durably that the message is about to be handed over; false when it must not be. */
  readonly handOver: () => Promise<boolean>;
  /** That the attempt is to end: at once while nothing was handed over, in good time afterwards. */
  readonly signal: AbortSignal;
  /** For the way to handing the message over, and again for the answer after that. */
  readonly timeoutMs: number;
}

/** How long the answer to a message that was handed over is still waited for when the end has come. */
const drainMs = 10_000;

/** How far one attempt to send has got, and until when it may go on. */
export class SendAttempt {
  readonly #bounds: AttemptLimits;
  readonly #over = Promise.withResolvers<never>();
  readonly #onAbort = () => this.#hurry();
  #timer: NodeJS.Timeout | undefined;
  #ended = false;
  #handedOver = false;
  #stopped = false;

  constructor(bounds: AttemptLimits) {
    this.#bounds = bounds;
    // It is told to whoever waits, and mostly nobody does.
    this.#over.promise.catch(() => undefined);
    this.#endIn(bounds.timeoutMs);
    bounds.signal.addEventListener("abort", this.#onAbort);
    if (bounds.signal.aborted) this.#hurry();
  }

  /** Whether the message may have reached the server. */
  get handedOver(): boolean {
    return this.#handedOver;
  }

  /** Whether it was given up with nothing handed over. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** What comes of some work, unless the attempt is over before. */
  through<R>(work: Promise<R>): Promise<R> {
    return Promise.race([work, this.#over.promise]);
  }

  /** The message, of which nothing is read before the server has asked for it. */
  contentOf(bytes: Buffer): Readable {
    return Readable.from(this.#content(bytes));
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#bounds.signal.removeEventListener("abort", this.#onAbort);
  }

  async *#content(bytes: Buffer): AsyncGenerator<Buffer> {
    const allowed = await this.#bounds.handOver();
    // The attempt may have come to its end while that was written down.
    if (!allowed || this.#ended || this.#stopped) {
      this.#stopped = true;
      throw new Error("The message is not to be handed over");
    }
    this.#handedOver = true;
    this.#endIn(this.#bounds.timeoutMs);
    yield bytes;
  }

  #hurry(): void {
    if (this.#handedOver) {
      this.#endIn(Math.min(drainMs, this.#bounds.timeoutMs));
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
