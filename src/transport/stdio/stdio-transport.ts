import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { chooseEncoding, composeJsonText } from "../../lib/json-cache.ts";
import { LineSplitter } from "./line-splitter.ts";

/** stdin and stdout as a wire. */
export interface StdioWire {
  readonly wire: Transport;
  /** Resolves when the client has ended its input. */
  readonly ended: Promise<void>;
  /** What comes in, before the wire reads it. */
  readonly lines?: LineSplitter;
}

export function openStdioTransport(): StdioWire {
  const { stdin } = process;
  const ended = new Promise<void>((resolve) => {
    if (stdin.readableEnded || stdin.destroyed) resolve();
    else stdin.once("end", resolve).once("close", resolve);
  });
  const input = new PassThrough();
  const lines = new LineSplitter(stdin, input);
  return { wire: new PatientTransport(input, lines), ended, lines };
}

/**
 * A client that ends its input is still answered what it has asked before: the SDK's own transport closes right then,
 * so the end is kept from it. And what is written is not made into text again where its text is at hand.
 */
class PatientTransport extends StdioServerTransport {
  readonly #lines: LineSplitter;
  #closed = false;

  constructor(input: PassThrough, lines: LineSplitter) {
    super(input);
    this.#lines = lines;
  }

  override async start(): Promise<void> {
    await super.start();
    this.#lines.start();
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new Error("The connection is closed");
    const line = `${composeJsonText(message)}\n`;
    if (!process.stdout.write(line, chooseEncoding(line))) await once(process.stdout, "drain");
  }

  override async close(): Promise<void> {
    this.#closed = true;
    // Else the process would stay up to go on reading.
    this.#lines.stop();
    await super.close();
  }
}
