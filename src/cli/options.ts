import { Argument, type Command, Option } from "commander";
import { addOptions } from "../config/options.ts";
import type { CommandName } from "../config/setting.ts";
import { UsageError } from "../config/usage-error.ts";

export const jsonOption = ["--json", "print JSON, on one line"] as const;
export const businessOption = ["--business <id or name>", "the organisation"] as const;

/** Creates a subcommand with the settings of its group, and `--json`, because each of them prints a result. */
export function createSubcommand(group: Command, name: string, description: string, settings?: CommandName): Command {
  const command = group.command(name).description(description);
  if (settings) addOptions(command, settings);
  return command.option(...jsonOption);
}

/** Creates an option with choices for completion. The command itself rejects other values. */
export function createChoiceOption(
  flags: string,
  description: string,
  choices: readonly string[],
  preset?: string,
): Option {
  const option = new Option(flags, description);
  if (choices.length > 0) option.argChoices = [...choices];
  return preset === undefined ? option : option.default(preset);
}

/** Creates an argument with a fixed set of values. */
export function createChoiceArgument(name: string, description: string, choices: readonly string[]): Argument {
  return new Argument(name, description).choices(choices);
}

/** @throws UsageError naming the option */
export function parseWholeNumber(option: string, text: unknown, min = 1, max = 10_000): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new UsageError(`${option} must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`);
}
