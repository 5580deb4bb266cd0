import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/server";
import { listenMethod } from "../sessions/listen.ts";

/** A transport that knows which requests are still to be answered. */
export class DrainingTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly #inner: Transport;
  readonly #open = new Set<unknown>();
  readonly #waiting = new Set<() => void>();

  constructor(inner: Transport) {
    this.#inner = inner;
    inner.onmessage = (message, extra) => {
      this.heard(message);
      this.onmessage?.(message, extra);
    };
    inner.onerror = (error) => this.onerror?.(error);
    inner.onclose = () => {
      this.#open.clear();
      this.#tell();
      this.onclose?.();
    };
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    try {
      await this.#inner.send(message, options);
    } finally {
      if (!("method" in message)) this.#answered(message.id);
    }
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** Resolves when every request has been answered or called off, at the latest after so long. */
  async settled(maxMs: number): Promise<void> {
    // What was sent just now is on its way here.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#open.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, maxMs);
      this.#waiting.add(resolve);
    });
    clearTimeout(timer);
  }

  /** Notes a message that came in. */
  heard(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if (message.method === "notifications/cancelled") this.#answered(message.params?.["requestId"]);
    // Whoever listens is answered when nobody listens any more.
    else if ("id" in message && message.method !== listenMethod) this.#open.add(message.id);
  }

  #answered(id: unknown): void {
    if (this.#open.delete(id)) this.#tell();
  }

  #tell(): void {
    if (this.#open.size === 0) for (const resolve of this.#waiting) resolve();
  }
}
