import type {
  JSONRPCMessage,
  McpRequestContext,
  MessageExtraInfo,
  Server,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { openStdioTransport, type StdioWire } from "./stdio-transport.ts";

/** What a client says before there is anything to do. */
const smallTalk: readonly string[] = [
  "initialize",
  "notifications/initialized",
  "server/discover",
  "ping",
  "tools/list",
];
/** As much of it as is kept until the server comes. */
const maxKept = 64;

/**
 * A wire whose client is greeted, and shown the tools, by a server that needs nothing for that. The server that is
 * connected to the wire later hears everything from the beginning; what it answers to what was answered is dropped.
 */
export class StartupHandshake implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  /** Whether something is said that takes the server before the client is gone. */
  readonly wanted: Promise<boolean>;
  readonly lines: StdioWire["lines"];
  readonly #inner: Transport;
  readonly #greeting = new Greeting((message) => this.#greeted(message));
  readonly #kept: [message: JSONRPCMessage, extra: MessageExtraInfo | undefined][] = [];
  readonly #answered = new Set<unknown>();
  #want: (wanted: boolean) => void = () => undefined;
  #connected = false;

  /** @param greeter - makes the server that greets: it knows of the methods above and nothing else */
  constructor(
    greeter: (context: McpRequestContext) => Server,
    { wire: inner, ended, lines }: StdioWire = openStdioTransport(),
  ) {
    this.lines = lines;
    this.#inner = inner;
    this.wanted = new Promise((resolve) => {
      this.#want = resolve;
    });
    inner.onmessage = (message, extra) => this.#heard(message, extra);
    inner.onerror = (error) => this.onerror?.(error);
    inner.onclose = () => {
      this.#want(false);
      this.onclose?.();
    };
    void ended.then(() => this.#want(false));
    serveStdio(greeter, { transport: this.#greeting });
  }

  /** Listens to the client. */
  async greet(): Promise<void> {
    await this.#inner.start();
  }

  /** Connects the server. */
  async start(): Promise<void> {
    this.#connected = true;
    for (const [message, extra] of this.#kept.splice(0)) this.onmessage?.(message, extra);
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (isAnswer(message) && this.#answered.delete(message.id)) return;
    await this.#inner.send(message, options);
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  #heard(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if (this.#connected) {
      this.onmessage?.(message, extra);
      return;
    }
    this.#kept.push([message, extra]);
    if (!("method" in message) || !smallTalk.includes(message.method) || this.#kept.length >= maxKept) this.#want(true);
    else this.#greeting.onmessage?.(message, extra);
  }

  /** The server that greets has an answer: too late once the other one is there. */
  async #greeted(message: JSONRPCMessage): Promise<void> {
    if (this.#connected) return;
    if (isAnswer(message)) this.#answered.add(message.id);
    await this.#inner.send(message);
  }
}

/** The end of the wire that the greeting server holds. */
class Greeting implements Transport {
  onclose?: () => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly send: Transport["send"];

  constructor(send: (message: JSONRPCMessage) => Promise<void>) {
    this.send = send;
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {
    this.onclose?.();
  }
}

function isAnswer(message: JSONRPCMessage): message is Extract<JSONRPCMessage, { readonly id?: unknown }> {
  return !("method" in message);
}
