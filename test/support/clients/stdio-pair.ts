import { PassThrough } from "node:stream";
import type { Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { StdioTransport } from "../../../src/transport/stdio/stdio-transport.ts";

/** A client's end that can also send what no JSON writer makes. */
export interface LineTransport extends Transport {
  sendLine(line: string): void;
}

/** Returns the client's and the server's end of a stdio connection within this process. */
export function createStdioPair(): [client: LineTransport, server: StdioTransport] {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const server = new StdioTransport({ input: toServer, output: toClient });
  const client = new ClientEnd(toClient, toServer);
  void server.closed.then(() => client.close());
  return [client, server];
}

/** Framing is the same in both directions, so the SDK's transport of servers serves a client too. */
class ClientEnd extends StdioServerTransport implements LineTransport {
  readonly #toServer: PassThrough;

  constructor(fromServer: PassThrough, toServer: PassThrough) {
    super(fromServer, toServer);
    this.#toServer = toServer;
  }

  sendLine(line: string): void {
    this.#toServer.write(`${line}\n`);
  }

  override async close(): Promise<void> {
    this.#toServer.end();
    await super.close();
  }
}
