import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { EventPayload } from "../../src/contract/events.ts";
import { onEnd } from "./program.ts";

export type Respond = (response: ServerResponse) => void;

export const accept: Respond = (response) => void response.writeHead(204).end();

/** A receiver of webhooks. */
export interface Receiver {
  readonly url: string;
  /** Events by id, with the time of their arrival. */
  readonly events: ReadonlyMap<string, { readonly event: EventPayload; readonly atMs: number }>;
  /** Requests received. */
  readonly requests: number;
  respondWith(respond: Respond): void;
}

export async function openReceiver(first: Respond = accept): Promise<Receiver> {
  const events = new Map<string, { event: EventPayload; atMs: number }>();
  let [respond, requests] = [first, 0];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      requests += 1;
      const event = JSON.parse(Buffer.concat(chunks).toString()) as EventPayload;
      // An event counts only if the receiver says that it has it.
      if (respond === accept && !events.has(event.eventId)) {
        events.set(event.eventId, { event, atMs: performance.now() });
      }
      respond(response);
    });
    request.on("error", () => undefined);
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    events,
    get requests() {
      return requests;
    },
    respondWith(next) {
      respond = next;
    },
  };
}
