import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Ending } from "../support/processes/processes.ts";

/** Deals requests out to replicas, one after the other: no two in a row go to the same. */
export interface Balancer {
  readonly origin: string;
  /** Sets the replicas from now on; one that is gone may still be among them. */
  turnTo(origins: readonly string[]): void;
}

/** A plain one: it knows nothing of sessions, and tries another replica only where nobody listens. */
export async function openBalancer(first: readonly string[] = [], ending: Ending = onTestFinished): Promise<Balancer> {
  const agent = new Agent({ keepAlive: false });
  let origins = first;
  let turns = 0;

  function pass(incoming: IncomingMessage, response: ServerResponse, body: Buffer, triesLeft: number): void {
    const origin = origins[turns++ % origins.length];
    const outgoing = request(`${origin}${incoming.url}`, {
      agent,
      method: incoming.method,
      headers: { ...incoming.headers, connection: "close" },
      setHost: false,
    });
    outgoing.on("response", (answer) => {
      const { connection: _, ...headers } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED" && triesLeft > 0) pass(incoming, response, body, triesLeft - 1);
      else if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    response.on("close", () => outgoing.destroy());
    outgoing.end(body);
  }

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => pass(incoming, response, Buffer.concat(chunks), origins.length));
    incoming.on("error", () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ending(async () => {
    server.closeAllConnections();
    server.close();
    agent.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    turnTo: (next) => {
      origins = next;
    },
  };
}
