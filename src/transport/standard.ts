import { PassThrough } from "node:stream";
import type { Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** stdin and stdout as a wire. */
export interface StandardWire {
  readonly wire: Transport;
  /** Resolves when the client has ended its input. */
  readonly ended: Promise<void>;
}

export function openStandardWire(): StandardWire {
  const { stdin } = process;
  const ended = new Promise<void>((resolve) => {
    if (stdin.readableEnded || stdin.destroyed) resolve();
    else stdin.once("end", resolve).once("close", resolve);
  });
  return { wire: new PatientTransport(new PassThrough()), ended };
}

/**
 * A client that ends its input is still answered what it has asked before: the SDK's own transport closes right then,
 * so the end is kept from it.
 */
class PatientTransport extends StdioServerTransport {
  readonly #input: PassThrough;

  constructor(input: PassThrough) {
    super(input);
    this.#input = input;
  }

  override async start(): Promise<void> {
    await super.start();
    process.stdin.pipe(this.#input, { end: false });
  }

  override async close(): Promise<void> {
    // Else the process would stay up to go on reading.
    process.stdin.unpipe(this.#input).pause();
    await super.close();
  }
}
