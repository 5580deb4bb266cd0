import { connect, createServer, type Socket } from "node:net";

/** A way to a server that can be cut. */
export interface TcpProxy {
  readonly port: number;
  /** The data that clients have sent so far, as text. */
  sent(): string;
  /** Leads connections that are made from now on to the server on this port. */
  turnTo(port: number): void;
  /** Cuts all connections now. */
  cut(): void;
  /** Passes on the next thing that clients send with this in it, and cuts the connection before there is an answer. */
  cutAfter(text: string): void;
  /** Takes connections and lets nothing through. */
  block(blocked: boolean): void;
  close(): Promise<void>;
}

export async function openTcpProxy(firstPort: number): Promise<TcpProxy> {
  let toPort = firstPort;
  const sockets = new Set<Socket>();
  const chunks: string[] = [];
  let [fatal, blocked] = [undefined as string | undefined, false];
  const server = createServer((client) => {
    const far = connect(toPort, "127.0.0.1");
    const ends = [client, far];
    for (const socket of ends) {
      sockets.add(socket);
      socket.setNoDelay().on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        for (const end of ends) end.destroy();
      });
    }
    client.on("data", (chunk) => {
      if (blocked) return;
      const text = chunk.toString("latin1");
      chunks.push(text);
      if (fatal !== undefined && text.includes(fatal)) {
        fatal = undefined;
        far.removeAllListeners("data");
        // The server answers, to nobody.
        far.write(chunk, () => far.once("data", () => client.destroy()));
      } else far.write(chunk);
    });
    far.on("data", (chunk) => blocked || client.write(chunk));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    sent: () => chunks.join(""),
    turnTo(port) {
      toPort = port;
    },
    cut,
    cutAfter(text) {
      fatal = text;
    },
    block(now) {
      blocked = now;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
