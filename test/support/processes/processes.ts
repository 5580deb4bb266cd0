import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { createSettings } from "../database/database-settings.ts";

const script = fileURLToPath(new URL("./process.ts", import.meta.url));

/** A service in a process of its own. */
export interface OtherProcess {
  readonly origin: string;
  /** The log so far. */
  logged(): string;
  signal(signal: NodeJS.Signals): void;
  /** Ends it at once, whatever it is about. */
  kill(): Promise<void>;
  /** Ends it in good order; gives its exit code. */
  stop(): Promise<number | null>;
}

interface Surroundings {
  /** The time by which its clock is ahead. */
  readonly aheadMs?: number;
  /** The beginning of its command. */
  readonly within?: readonly string[];
  /** Takes what ends it with whatever it is for: a test, if nothing else is said. */
  readonly ending?: Ending;
}

export type Ending = (end: () => Promise<void>) => void;

/**
 * Starts one that serves and works on a database; it ends with the test.
 * @param environment - more settings; it logs nothing unless they say so
 */
export async function startProcess(
  database: string,
  environment: Record<string, string> = {},
  { aheadMs = 0, within = [], ending = onTestFinished }: Surroundings = {},
): Promise<OtherProcess> {
  const settings = { PROGRAMME_DATABASE: database, ...createSettings(database), ...environment };
  const [program = "", ...args] = [...within, process.execPath, script, String(aheadMs)];
  const child = spawn(program, args, {
    env: { PATH: process.env["PATH"] ?? "", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  ending(async () => void child.kill("SIGKILL"));
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => {
    log += chunk;
  });
  const closed = once(child, "close").then(([code]) => code as number | null);
  const firstOutput = await Promise.race([once(child.stdout, "data"), closed]);
  if (!Array.isArray(firstOutput)) throw new Error(`The process ended with ${firstOutput}: ${log}`);
  return {
    origin: String(firstOutput[0]).trim(),
    logged: () => log,
    signal: (signal) => void child.kill(signal),
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
    stop() {
      child.kill("SIGTERM");
      return closed;
    },
  };
}
