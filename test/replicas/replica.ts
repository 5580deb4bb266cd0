import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { createSettings } from "../support/database/database-settings.ts";
import { freePort } from "../support/processes/free-port.ts";

const main = join(import.meta.dirname, "../../src/main.ts");

/** The program itself, as `programme-mcp http` starts it, always at the same address. */
export interface Replica {
  readonly origin: string;
  /** Kills the replica and starts it again. Resolves when it is ready. */
  killAndStart(): Promise<void>;
  /** Ends it in good order; its exit code. */
  stop(): Promise<number | null>;
  /** The output so far, of all its lives. */
  output(): string;
}

export async function startReplica(database: string, environment: Record<string, string>): Promise<Replica> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  let output = "";
  let child = start();

  function start(): ChildProcess {
    const settings = { PROGRAMME_DATABASE: database, ...createSettings(database), ...environment };
    const started = spawn(process.execPath, [main, "http"], {
      env: { PATH: process.env["PATH"] ?? "", PROGRAMME_PORT: String(port), PROGRAMME_LOG_LEVEL: "warn", ...settings },
      stdio: ["ignore", "ignore", "pipe"],
    });
    started.stderr?.on("data", (chunk) => (output += chunk));
    return started;
  }

  async function ready(): Promise<void> {
    for (;;) {
      if (child.exitCode !== null) throw new Error(`The program ended with ${child.exitCode}: ${output}`);
      const answer = await fetch(`${origin}/readyz`).catch(() => undefined);
      await answer?.text();
      if (answer?.status === 200) return;
      await delay(50);
    }
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const closed = once(child, "close");
    child.kill(signal);
    return (await closed)[0] as number | null;
  }

  onTestFinished(() => void child.kill("SIGKILL"));
  await ready();
  return {
    origin,
    async killAndStart() {
      await end("SIGKILL");
      child = start();
      await ready();
    },
    stop: () => end("SIGTERM"),
    output: () => output,
  };
}
