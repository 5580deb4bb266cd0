import type { CommanderError } from "commander";
import { watchBrokenPipe } from "../commands/terminal/broken-pipe.ts";
import { Interrupted } from "../commands/terminal/signals.ts";
import { loadConfig } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";

/**
 * Runs the command line. Writes results to stdout and everything else to stderr. `docs/commands.md` lists the exit
 * codes.
 */
export async function runCli(argv: readonly string[]): Promise<void> {
  const args = expandHelpCommand(argv.slice(2));
  chooseColours(args);
  watchBrokenPipe();
  try {
    if (isPlainStart(args)) await serveByEnvironment();
    else await runCommand(args);
  } catch (error) {
    process.exitCode = await report(error);
  }
}

/** Returns whether the arguments are those with which clients start the program. */
function isPlainStart(args: readonly string[]): boolean {
  return args.length === 0 || (args.length === 1 && args[0] === "stdio");
}

/** Serves stdio without loading the command-line parser, because the client waits. */
async function serveByEnvironment(): Promise<void> {
  const { serveStdio } = await import("../commands/stdio.ts");
  await serveStdio(loadConfig(process.env));
}

async function runCommand(args: readonly string[]): Promise<void> {
  const { buildProgram } = await import("./program.ts");
  const program = await buildProgram(args);
  await program.parseAsync(args, { from: "user" });
}

/** Converts `help token create` to `token create --help`, at any depth. */
function expandHelpCommand(args: readonly string[]): readonly string[] {
  const [first, ...rest] = args;
  return first === "help" && rest.length > 0 ? [...rest, "--help"] : args;
}

/** Sets the variables that commander, Node and the log read to decide about colours. */
function chooseColours(args: readonly string[]): void {
  if (args.includes("--no-color")) {
    delete process.env["FORCE_COLOR"];
    process.env["NO_COLOR"] = "1";
  } else if (args.includes("--color")) {
    delete process.env["NO_COLOR"];
    process.env["FORCE_COLOR"] = "1";
  }
}

async function report(error: unknown): Promise<number> {
  if (isCommanderError(error)) {
    // Help and `--version` end this way too. Help of a group without its command counts as an error.
    return error.exitCode === 0 ? 0 : 2;
  }
  const known = error instanceof UsageError || error instanceof Interrupted;
  const message = error instanceof Error ? error.message : String(error);
  // Loaded only here, because a client that starts the server waits for each module of Node.
  const { paint } = await import("../commands/terminal/paint.ts");
  process.stderr.write(`${paint("red", "error:", process.stderr)} ${message}\n`);
  return known ? error.exitCode : 1;
}

function isCommanderError(error: unknown): error is CommanderError {
  return error instanceof Error && error.name === "CommanderError";
}
