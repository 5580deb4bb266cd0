import type { CommanderError } from "commander";
import { watchBrokenPipe } from "../commands/terminal/broken-pipe.ts";
import { paint } from "../commands/terminal/output.ts";
import { Interrupted } from "../commands/terminal/signals.ts";
import { loadConfig } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";

/** Runs the command line. Results go to stdout, everything else to stderr; how it ends is told in `docs/commands.md`. */
export async function runCli(argv: readonly string[]): Promise<void> {
  const args = expandHelpCommand(argv.slice(2));
  chooseColours(args);
  watchBrokenPipe();
  try {
    if (isPlainStart(args)) await serveByEnvironment();
    else await runCommand(args);
  } catch (error) {
    process.exitCode = report(error);
  }
}

/** How clients start it, unless they give options. */
function isPlainStart(args: readonly string[]): boolean {
  return args.length === 0 || (args.length === 1 && args[0] === "stdio");
}

/** Without what reads a command line: a client waits for it. */
async function serveByEnvironment(): Promise<void> {
  const { serveStdio } = await import("../commands/stdio.ts");
  await serveStdio(loadConfig(process.env));
}

async function runCommand(args: readonly string[]): Promise<void> {
  const { buildProgram } = await import("./program.ts");
  const program = await buildProgram(args);
  await program.parseAsync(args, { from: "user" });
}

/** `help token create` is `token create --help`, however deep. */
function expandHelpCommand(args: readonly string[]): readonly string[] {
  const [first, ...rest] = args;
  return first === "help" && rest.length > 0 ? [...rest, "--help"] : args;
}

/** Everything that paints looks at these variables: commander, Node and the log. */
function chooseColours(args: readonly string[]): void {
  if (args.includes("--no-color")) {
    delete process.env["FORCE_COLOR"];
    process.env["NO_COLOR"] = "1";
  } else if (args.includes("--color")) {
    delete process.env["NO_COLOR"];
    process.env["FORCE_COLOR"] = "1";
  }
}

function report(error: unknown): number {
  if (isCommanderError(error)) {
    // Help and --version end this way too; help that nobody asked for is that of a group without its command.
    return error.exitCode === 0 ? 0 : 2;
  }
  const known = error instanceof UsageError || error instanceof Interrupted;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${paint("red", "error:", process.stderr)} ${message}\n`);
  return known ? error.exitCode : 1;
}

function isCommanderError(error: unknown): error is CommanderError {
  return error instanceof Error && error.name === "CommanderError";
}
