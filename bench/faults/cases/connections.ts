import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { readMemoryMiB } from "../../process-usage.ts";
import { type FaultCase, type Injection, measureFault, openSubject, type Subject } from "../measure.ts";
import { onEnd } from "../program.ts";

/** Longer than a client may leave an answer unread. */
const holdMs = 40_000;

/** Opens connections, over several addresses of this machine, and has each one misbehave. */
async function openConnections(port: number, count: number, misbehave: (socket: Socket) => void): Promise<void> {
  const sockets: Socket[] = [];
  onEnd(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let index = 0; index < count; index += 1) {
    const localAddress = `127.0.0.${2 + (index % 8)}`;
    const socket = connect({ port, host: "127.0.0.1", localAddress });
    socket.on("error", () => undefined).on("connect", () => misbehave(socket));
    sockets.push(socket);
    if (index % 100 === 99) await delay(20);
  }
}

function createConnectionCase(
  name: string,
  count: number,
  createMisbehaviour: (subject: Subject) => (socket: Socket) => void,
): FaultCase {
  return {
    name,
    async run() {
      const subject = await openSubject();
      return measureFault(subject, async (injection) => {
        const { port, pid } = subject.program;
        const beforeMs = performance.now();
        await openConnections(port, count, createMisbehaviour(subject));
        await delay(holdMs);
        const figures = readFigures(injection, beforeMs);
        const open = (await subject.program.readMetric("programme_http_connections")) ?? 0;
        return { ...figures, connections: count, open, memoryMiB: readMemoryMiB(pid) };
      });
    },
  };
}

/** Returns the latency of the other clients before and during the fault. */
function readFigures({ load, startedMs }: Injection, beganMs: number): Record<string, number> {
  const endedMs = performance.now();
  return {
    readP50BeforeMs: load.getLatencyMs(0.5, startedMs + 1_000, beganMs),
    readP99BeforeMs: load.getLatencyMs(0.99, startedMs + 1_000, beganMs),
    readP50Ms: load.getLatencyMs(0.5, beganMs, endedMs),
    readP99Ms: load.getLatencyMs(0.99, beganMs, endedMs),
    writeP99Ms: load.getLatencyMs(0.99, beganMs, endedMs, false),
  };
}

/** Sends the head of a request byte by byte. */
function sendHeadSlowly(socket: Socket): void {
  socket.resume();
  const text = `GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Filler: ${"x".repeat(1_000)}`;
  let sent = 0;
  const timer = setInterval(() => socket.write(text.charAt(sent++)), 500);
  socket.on("close", () => clearInterval(timer));
}

/** Sends a head and a part of the body, and nothing more: a client whose machine or network is gone. */
function createHalfOpen({ installation: { token } }: Subject) {
  return (socket: Socket) => {
    socket.resume();
    const head = ["POST /integrations/v1/submissions HTTP/1.1", "Host: 127.0.0.1", `Authorization: Bearer ${token}`];
    head.push("Content-Type: application/json", "Content-Length: 1000", "", "{");
    socket.write(head.join("\r\n"));
  };
}

/** Asks for many answers on one connection and reads none. */
function createUnread({ installation: { token } }: Subject) {
  return (socket: Socket) => {
    const head = ["GET /integrations/v1/openapi.json HTTP/1.1", "Host: 127.0.0.1", `Authorization: Bearer ${token}`];
    socket.pause();
    socket.write(`${head.join("\r\n")}\r\n\r\n`.repeat(20));
  };
}

export const connectionCases: readonly FaultCase[] = [
  createConnectionCase("clients-slow", 2_000, () => sendHeadSlowly),
  createConnectionCase("clients-half-open", 2_000, createHalfOpen),
  createConnectionCase("clients-not-reading", 500, createUnread),
];
