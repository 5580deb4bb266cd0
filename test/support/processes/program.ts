import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "./directory.ts";

const root = join(import.meta.dirname, "../../..");
const main = join(root, "dist/main.js");
/** The compiled code of one test's program serves the next one's. */
const compiled = join(root, "node_modules/.cache/programme-mcp");

/** The output of a process that ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built program, run in a home of its own. */
export interface Home {
  readonly path: string;
  readonly database: string;
  /** The settings with which a client starts the program itself. */
  command(args: readonly string[], environment?: Record<string, string>): Command;
  /** Runs a command to its end. */
  run(args: readonly string[], environment?: Record<string, string>): Promise<Ended>;
  /** Starts a command that stays. */
  start(args: readonly string[], environment?: Record<string, string>): Started;
}

interface Command {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

export interface Started {
  readonly process: ChildProcess;
  /** The first match on stdout, as soon as there is one. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** The output on stderr so far. */
  output(): string;
  /** Everything that it said, once it has ended. */
  ended(): Promise<Ended>;
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

/** A home for one test; whatever was started in it ends with the test. */
export async function openHome(): Promise<Home> {
  const directory = await temporaryDirectory();
  const running: ChildProcess[] = [];
  onTestFinished(async () => {
    for (const child of running) child.kill("SIGKILL");
    await directory.remove();
  });
  const command: Home["command"] = (args, environment = {}) => ({
    command: process.execPath,
    args: [main, ...args],
    env: { PATH: process.env["PATH"] ?? "", HOME: directory.path, NODE_COMPILE_CACHE: compiled, ...environment },
  });
  const start: Home["start"] = (args, environment) => {
    const { command: node, args: all, env } = command(args, environment);
    const child = spawn(node, all, { env, cwd: directory.path });
    running.push(child);
    return follow(child);
  };
  return {
    path: directory.path,
    database: join(directory.path, "programme.db"),
    command,
    start,
    run: (args, environment) => {
      const started = start(args, environment);
      started.process.stdin?.end();
      return started.ended();
    },
  };
}

function follow(child: ChildProcess): Started {
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (chunk) => (stdout += chunk));
  child.stderr?.on("data", (chunk) => (stderr += chunk));
  const exited = once(child, "close").then(([code]): Ended => ({ code, stdout, stderr }));
  return {
    process: child,
    async printed(pattern) {
      for (;;) {
        const match = pattern.exec(stdout);
        if (match) return match;
        const ended = await Promise.race([exited, once(child.stdout as NonNullable<typeof child.stdout>, "data")]);
        if ("code" in ended) throw new Error(`The program ended with ${ended.code}: ${ended.stderr}`);
      }
    },
    output: () => stderr,
    ended: () => exited,
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return exited;
    },
  };
}
