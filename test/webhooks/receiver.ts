import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A request as it came in. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly atMs: number;
}

export type Answer = (response: ServerResponse, received: Received) => void;

export interface Receiver {
  /** An address of its own for each receiver; nothing else is at it. */
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** Answers otherwise from now on. */
  answer(how: Answer): void;
  /** Ids of the events received, in order. */
  eventIds(): string[];
  /** Resolves when this many requests have come in. */
  waitFor(count: number): Promise<void>;
}

export const accepts: Answer = (response) => response.writeHead(204).end();

export function answers(status: number, headers: Record<string, string> = {}, body = ""): Answer {
  return (response) => response.writeHead(status, headers).end(body);
}

/** Takes the request and never says a word. */
export const hangs: Answer = () => undefined;

/** Starts a receiver on this machine for one test; with TLS where options for that are given. */
export async function openReceiver(how: Answer = accepts, tls?: ServerOptions): Promise<Receiver> {
  let current = how;
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const all = { method, path: url, headers, body: Buffer.concat(chunks).toString("utf8"), atMs: performance.now() };
      received.push(all);
      for (const check of [...waiting]) check();
      current(response, all);
    });
    request.on("error", () => undefined);
  };
  const server = tls ? createTlsServer(tls, handle) : createServer(handle);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? "https" : "http"}://127.0.0.1:${port}/hook`,
    port,
    received,
    answer: (next) => {
      current = next;
    },
    eventIds: () => received.map(({ headers }) => String(headers["webhook-id"])),
    waitFor: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (received.length < count) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
  };
}
