import { PassThrough } from "node:stream";
import type { Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** stdin and stdout as a wire. */
export interface StandardWire {
  readonly wire: Transport;
  /** Resolves when the client has ended its input. */
  readonly ended: Promise<void>;
}

/**
 * Opens stdin and stdout. A client that ends its input is still answered what it has asked before: the SDK's own wire
 * closes right then.
 */
export function openStandardWire(): StandardWire {
  const { stdin } = process;
  const input = new PassThrough();
  stdin.pipe(input, { end: false });
  const ended = new Promise<void>((resolve) => {
    if (stdin.readableEnded || stdin.destroyed) resolve();
    else stdin.once("end", resolve).once("close", resolve);
  });
  return { wire: new StdioServerTransport(input), ended };
}
