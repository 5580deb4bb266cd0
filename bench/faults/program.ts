import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../../test/support/processes/free-port.ts";

const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

type Settings = Readonly<Record<string, string>>;

/** A database with a programme, and what a client needs to use it. */
export interface Installation {
  readonly directory: string;
  readonly settings: Settings;
  readonly token: string;
  readonly programId: string;
  readonly trackId: string;
  /** Runs a command of the program. Returns what it prints. */
  run(...args: string[]): Promise<string>;
}

export interface StartOptions {
  readonly settings?: Settings;
  /** Words before the command, such as those of `nsenter`. */
  readonly within?: readonly string[];
  readonly nodeArguments?: readonly string[];
  readonly port?: number;
}

/** The built program, serving over HTTP. */
export interface Program {
  readonly origin: string;
  readonly port: number;
  readonly pid: number;
  /** Messages of warnings and errors in its log, each once. */
  listWarnings(): string[];
  readMetric(name: string): Promise<number | undefined>;
  hasEnded(): boolean;
  kill(): Promise<void>;
  /** Ends it in good order. Returns its exit code. */
  stop(): Promise<number | null>;
}

const cleanUps: (() => unknown)[] = [];

/** Has work done when the run ends, last first. */
export function onEnd(cleanUp: () => unknown): void {
  cleanUps.push(cleanUp);
}

export async function cleanUpAll(): Promise<void> {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
}

const commonSettings = {
  PROGRAMME_REQUESTS_PER_MINUTE: "1000000",
  PROGRAMME_WEBHOOK_LOOPBACK: "true",
  PROGRAMME_LOG_LEVEL: "warn",
  PROGRAMME_PRIVACY: "off",
};

/** Creates a database with the programme of `programme-mcp template`, and a token with all scopes. */
export async function install(settings: Settings = {}): Promise<Installation> {
  const directory = mkdtempSync(join(tmpdir(), "programme-faults-"));
  onEnd(() => rmSync(directory, { recursive: true, force: true }));
  const all = { PROGRAMME_DATABASE: join(directory, "programme.db"), ...commonSettings, ...settings };
  const run: Installation["run"] = async (...args) => {
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { env: toEnvironment(all) });
    return stdout;
  };
  const file = join(directory, "programme.yaml");
  writeFileSync(file, await run("template"));
  const { programId, items } = JSON.parse(await run("import", file, "--json")) as {
    programId: string;
    items: { kind: string; id: string }[];
  };
  const { token } = JSON.parse(await run("token", "create", "--scopes", "all", "--json")) as { token: string };
  const trackId = items.find(({ kind }) => kind === "track")?.id ?? "";
  return { directory, settings: all, token, programId, trackId, run };

  function toEnvironment(values: Settings): Record<string, string> {
    return { PATH: process.env["PATH"] ?? "", HOME: directory, ...values };
  }
}

/** Starts the program on an installation. Resolves when it is ready. */
export async function startProgram(
  { directory, settings }: Pick<Installation, "directory" | "settings">,
  { settings: more = {}, within = [], nodeArguments = [], port: given }: StartOptions = {},
): Promise<Program> {
  const port = given ?? (await freePort());
  const metricsPort = await freePort();
  const [command = "", ...args] = [...within, process.execPath, ...nodeArguments, main, "http"];
  const child = spawn(command, args, {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: directory,
      PROGRAMME_PORT: String(port),
      PROGRAMME_METRICS: `127.0.0.1:${metricsPort}`,
      ...settings,
      ...more,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk));
  onEnd(() => hasEnded(child) || child.kill("SIGKILL"));
  const origin = `http://127.0.0.1:${port}`;
  await waitUntilReady(origin, child, () => log);
  return {
    origin,
    port,
    pid: child.pid ?? 0,
    listWarnings: () => listWarnings(log),
    async readMetric(name) {
      const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`).catch(() => undefined);
      const value = ((await answer?.text()) ?? "")
        .split("\n")
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length + 1);
      return value === undefined ? undefined : Number(value);
    },
    hasEnded: () => hasEnded(child),
    kill: async () => void (await end(child, "SIGKILL")),
    stop: () => end(child, "SIGTERM"),
  };
}

async function waitUntilReady(origin: string, child: ChildProcess, readLog: () => string): Promise<void> {
  for (;;) {
    if (hasEnded(child)) throw new Error(`The program has ended: ${readLog()}`);
    const answer = await fetch(`${origin}/readyz`).catch(() => undefined);
    await answer?.text();
    if (answer?.ok) return;
    await delay(20);
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (hasEnded(child)) return child.exitCode;
  const closed = once(child, "close");
  child.kill(signal);
  await closed;
  return child.exitCode;
}

function listWarnings(log: string): string[] {
  const messages = log.split("\n").flatMap((line) => {
    if (!line.startsWith("{")) return [];
    const { level, msg } = JSON.parse(line) as { level: string; msg: string };
    return ["warn", "error", "fatal"].includes(level) ? [msg] : [];
  });
  return [...new Set(messages)];
}
