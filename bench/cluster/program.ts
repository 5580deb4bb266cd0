import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Balancer, openBalancer } from "../../test/replicas/balancer.ts";
import { freePort } from "../../test/support/processes/free-port.ts";

/** A running process of the program, of this or another version. */
export interface Program {
  readonly origin: string;
  /** Ends the process in an orderly way. */
  stop(): Promise<void>;
}

/** The parts that the runs of this process have to end, the latest first. */
const ends: (() => Promise<void>)[] = [];

export function atEnd(end: () => Promise<void>): void {
  ends.unshift(end);
}

export async function endAll(): Promise<void> {
  for (const end of ends.splice(0)) await end();
}

export function openBench(origins: readonly string[]): Promise<Balancer> {
  return openBalancer(origins, atEnd);
}

/** Starts `programme-mcp http` from the sources in a directory, and waits until it is ready. */
export async function startProgram(
  database: string,
  settings: Readonly<Record<string, string>> = {},
  directory = join(import.meta.dirname, "../.."),
): Promise<Program> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [join(directory, "src/main.ts"), "http"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      PROGRAMME_DATABASE: database,
      PROGRAMME_SECRET_KEY: "5e".repeat(32),
      PROGRAMME_REQUESTS_PER_MINUTE: "1000000",
      PROGRAMME_LOG_LEVEL: "warn",
      PROGRAMME_PORT: String(port),
      ...settings,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk) => {
    log += chunk;
  });
  const closed = once(child, "close");
  const stop = async () => {
    child.kill("SIGTERM");
    const [code] = await closed;
    if (code !== 0) throw new Error(`The program ended with ${code}: ${log}`);
  };
  atEnd(async () => void child.kill("SIGKILL"));
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The program ended with ${child.exitCode}: ${log}`);
    const answer = await fetch(`${origin}/readyz`).catch(() => undefined);
    await answer?.text();
    if (answer?.status === 200) return { origin, stop };
    await delay(50);
  }
}
