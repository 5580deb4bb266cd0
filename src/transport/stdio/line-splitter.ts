import type { Readable, Writable } from "node:stream";

/** Longer ones are passed on as they come. */
const maxLineBytes = 1024 * 1024;
const newline = 0x0a;

/** Whether a line was taken; what was not is passed on. */
export type TakeLine = (line: string) => boolean;

/** Lines on their way from one stream to another, from which those that somebody takes are left out. */
export class LineSplitter {
  /** Nobody takes any until it is set. */
  take: TakeLine | undefined;
  readonly #from: Readable;
  readonly #to: Writable;
  /** The beginning of a line. */
  #pending: Buffer = Buffer.alloc(0);
  /** Whether the beginning of the line at hand has been passed on. */
  #passing = false;

  constructor(from: Readable, to: Writable) {
    this.#from = from;
    this.#to = to;
  }

  start(): void {
    this.#from.on("data", this.#heard);
    this.#from.once("end", this.#ended);
  }

  stop(): void {
    this.#from.off("data", this.#heard).off("end", this.#ended).pause();
  }

  readonly #heard = (chunk: Buffer): void => {
    if (!this.#read(chunk)) return;
    this.#from.pause();
    this.#to.once("drain", () => this.#from.resume());
  };

  readonly #ended = (): void => {
    this.#pass(this.#pending);
  };

  /** Whether the other end has no room for more. */
  #read(chunk: Buffer): boolean {
    let full = false;
    let rest = this.#pending.length > 0 ? Buffer.concat([this.#pending, chunk]) : chunk;
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      const line = rest.subarray(0, end + 1);
      rest = rest.subarray(end + 1);
      const taken = !this.#passing && this.take?.(line.toString("utf8")) === true;
      this.#passing = false;
      if (!taken) full = !this.#pass(line) || full;
    }
    if (rest.length > maxLineBytes || (this.#passing && rest.length > 0)) {
      full = !this.#pass(rest) || full;
      this.#passing = true;
      rest = rest.subarray(rest.length);
    }
    this.#pending = rest;
    return full;
  }

  #pass(bytes: Buffer): boolean {
    return bytes.length === 0 || this.#to.write(bytes);
  }
}
