import type { Server } from "node:http";
import type { Socket } from "node:net";
import { getClientAddress } from "./client-address.ts";

/** Closes new connections of a client that has `perClient` open, so that one client cannot take all of them. */
export function limitConnections(server: Server, perClient: number): void {
  const open = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const client = getClientAddress(socket.remoteAddress);
    const count = open.get(client) ?? 0;
    if (count >= perClient) {
      socket.destroy();
      return;
    }
    open.set(client, count + 1);
    socket.once("close", () => {
      const left = (open.get(client) ?? 1) - 1;
      if (left === 0) open.delete(client);
      else open.set(client, left);
    });
  });
}
