import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/server";
import { composeJsonText } from "../../lib/json-cache.ts";
import { waitAtMost } from "../../lib/timeout.ts";
import { listenMethod } from "../server-info.ts";

/** Longest message, in bytes; a client that sends a longer one is disconnected. */
const maxMessageBytes = 10 * 1024 * 1024;
const newline = 0x0a;

export interface StdioStreams {
  readonly input: Readable;
  readonly output: Writable;
}

export interface MessageHandlers {
  /** Answers a parsed message, or returns or resolves to undefined to leave it to the server. */
  answer(message: unknown): Promise<JSONRPCMessage | undefined> | undefined;
  /** Returns the message that the server receives in place of the given one. */
  prepare(message: JSONRPCMessage): Promise<JSONRPCMessage>;
}

/**
 * Exchanges MCP messages over stdin and stdout, one JSON text a line. Messages are buffered until a server connects.
 * The end of the input does not close the transport, so that calls in flight are still answered: `drain` waits for them.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Receives each message that is buffered. */
  onbuffered?: (message: JSONRPCMessage) => void;
  handlers?: MessageHandlers;
  /** Resolves when the client has ended its input, or the transport is closed. */
  readonly ended: Promise<void>;
  readonly closed: Promise<void>;
  readonly #streams: StdioStreams;
  readonly #end: () => void;
  readonly #close: () => void;
  /** The beginning of a line. */
  #partial: Buffer = Buffer.alloc(0);
  /** Messages that no server has received yet; undefined once a server is connected. */
  #buffered: JSONRPCMessage[] | undefined = [];
  /** Ids of requests that `sendEarly` has answered. */
  readonly #answeredEarly = new Set<unknown>();
  /** Ids of requests that are not answered yet. */
  readonly #inFlight = new Set<unknown>();
  readonly #drained = new Set<() => void>();
  /** Keeps messages in order while they are prepared. */
  #delivery: Promise<void> = Promise.resolve();
  #isReading = false;
  #isClosed = false;

  constructor(streams: StdioStreams = { input: process.stdin, output: process.stdout }) {
    this.#streams = streams;
    ({ promise: this.ended, resolve: this.#end } = Promise.withResolvers<void>());
    ({ promise: this.closed, resolve: this.#close } = Promise.withResolvers<void>());
  }

  /** Starts to read messages, which are buffered until `start` is called. */
  read(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    const { input, output } = this.#streams;
    if (input.readableEnded || input.destroyed) this.#end();
    input.on("data", this.#readChunk).once("end", this.#end).once("close", this.#end);
    input.on("error", (error) => this.onerror?.(error));
    // Stays attached after the transport is closed: a late failure to write would otherwise end the process.
    output.on("error", (error) => {
      this.onerror?.(error);
      void this.close();
    });
  }

  /** Delivers buffered messages, and from now on each message as it arrives. */
  async start(): Promise<void> {
    this.read();
    const buffered = this.#buffered ?? [];
    this.#buffered = undefined;
    for (const message of buffered) this.#receive(message);
  }

  /** Sends a message before a server is connected. What the server answers to the same request is dropped. */
  async sendEarly(message: JSONRPCMessage): Promise<void> {
    if (!this.#buffered) return;
    if (!("method" in message)) this.#answeredEarly.add(message.id);
    if (!this.#write(message)) await this.#awaitDrain();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    try {
      if ("method" in message || !this.#answeredEarly.delete(message.id)) {
        if (!this.#write(message)) await this.#awaitDrain();
      }
    } finally {
      if (!("method" in message)) this.#settle(message.id);
    }
  }

  /** Resolves when every request has been answered or cancelled, or after `maxMs`. */
  async drain(maxMs: number): Promise<void> {
    // Lines that were read in this turn of the event loop are still being delivered.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#inFlight.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#drained.add(resolve);
    await waitAtMost(maxMs, promise);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // A paused input does not keep the process running.
    this.#streams.input.off("data", this.#readChunk).pause();
    for (const id of this.#inFlight) this.#settle(id);
    this.#end();
    this.#close();
    this.onclose?.();
  }

  readonly #readChunk = (chunk: Buffer): void => {
    let rest = this.#partial.length > 0 ? Buffer.concat([this.#partial, chunk]) : chunk;
    for (let end = rest.indexOf(newline); end >= 0 && !this.#isClosed; end = rest.indexOf(newline)) {
      this.#parseLine(rest.toString("utf8", 0, end));
      rest = rest.subarray(end + 1);
    }
    this.#partial = rest;
    if (rest.length <= maxMessageBytes) return;
    this.onerror?.(new Error(`A message has more than ${maxMessageBytes} bytes`));
    void this.close();
  };

  #parseLine(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      // Some clients print other text too; the SDK's transport ignores it as well.
      return;
    }
    this.#receive(message);
  }

  #receive(message: unknown): void {
    try {
      if (this.#buffered) {
        const checked = parseJSONRPCMessage(message);
        this.#buffered.push(checked);
        this.onbuffered?.(checked);
        return;
      }
      // The schema of all messages costs more than most answers: only what the server receives is parsed by it.
      const answering = this.handlers?.answer(message);
      const checked = answering ? (message as JSONRPCMessage) : parseJSONRPCMessage(message);
      this.#track(checked);
      if (!answering) this.#deliver(checked);
      else void this.#sendAnswer(answering, checked);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  async #sendAnswer(answering: Promise<JSONRPCMessage | undefined>, request: JSONRPCMessage): Promise<void> {
    try {
      const answer = await answering;
      if (!answer) this.#deliver(request);
      // A client does not wait for the answer to a request that it cancelled.
      else if (!("id" in request) || this.#inFlight.has(request.id)) await this.send(answer);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  #deliver(message: JSONRPCMessage): void {
    this.#delivery = this.#delivery.then(async () => {
      this.onmessage?.((await this.handlers?.prepare(message)) ?? message);
    });
  }

  #track(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if (message.method === "notifications/cancelled") this.#settle(message.params?.["requestId"]);
    // A subscription is answered when it ends, which nobody waits for.
    else if ("id" in message && message.method !== listenMethod) this.#inFlight.add(message.id);
  }

  #settle(requestId: unknown): void {
    this.#inFlight.delete(requestId);
    if (this.#inFlight.size === 0) for (const resolve of this.#drained) resolve();
  }

  /** Returns false if the client does not keep up with reading. */
  #write(message: JSONRPCMessage): boolean {
    if (this.#isClosed) throw new Error("The connection is closed");
    return this.#streams.output.write(`${composeJsonText(message)}\n`);
  }

  async #awaitDrain(): Promise<void> {
    await once(this.#streams.output, "drain");
  }
}
