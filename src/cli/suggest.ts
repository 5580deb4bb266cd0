import type { Argument, Command, Option } from "commander";

/** What may stand where the cursor is. */
export interface Suggestions {
  readonly words: readonly Suggestion[];
  /** Whether it is the path of a file. */
  readonly files: boolean;
}

export interface Suggestion {
  readonly word: string;
  readonly description: string;
}

const nothing: Suggestions = { words: [], files: false };

/**
 * What may follow a command line.
 * @param words - after the program's name, as far as they are typed; the last one, perhaps empty, is being typed
 */
export function suggest(root: Command, words: readonly string[]): Suggestions {
  const typed = words.at(-1) ?? "";
  const state = words
    .slice(0, -1)
    .reduce(advance, { command: root, operands: 0, used: [], awaits: undefined, ended: false });
  return matching(candidates(state, typed), typed);
}

interface State {
  readonly command: Command;
  readonly operands: number;
  readonly used: readonly Option[];
  /** The option whose value comes next. */
  readonly awaits: Option | undefined;
  /** After `--` there are no options. */
  readonly ended: boolean;
}

function advance(state: State, word: string): State {
  const { command, used, awaits, ended, operands } = state;
  if (awaits) return { ...state, awaits: undefined };
  if (word === "--") return { ...state, ended: true };
  if (word.startsWith("-") && !ended) {
    const option = optionOf(command, word.replace(/=.*$/s, ""));
    if (!option) return state;
    return { ...state, used: [...used, option], awaits: option.required && !word.includes("=") ? option : undefined };
  }
  const sub = subcommands(command).find((each) => each.name() === word);
  return sub ? { ...state, command: sub, operands: 0 } : { ...state, operands: operands + 1 };
}

function candidates(state: State, typed: string): Suggestions {
  const { command, awaits, ended, operands } = state;
  if (awaits) return valuesOf(awaits);
  if (typed.startsWith("-") && !ended) {
    const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(typed) ?? [];
    if (flag === undefined || value === undefined) return options(state);
    const option = optionOf(command, flag);
    const values = option ? valuesOf(option) : nothing;
    const words = values.words.map(({ word, description }) => ({ word: `${flag}=${word}`, description }));
    return { ...values, words };
  }
  const names = subcommands(command);
  if (names.length > 0) {
    return { words: names.map((each) => ({ word: each.name(), description: each.description() })), files: false };
  }
  const argument = command.registeredArguments[operands];
  if (argument) return valuesOf(argument);
  return ended ? nothing : options(state);
}

function subcommands(command: Command): Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== command.name());
}

function optionOf(command: Command, flag: string): Option | undefined {
  return allOptions(command).find(({ long, short }) => long === flag || short === flag);
}

/** Those of the groups above, too; of the program, those of the command that it runs without one. */
function allOptions(command: Command): Option[] {
  const own = command.createHelp().visibleOptions(command);
  const byDefault = command.parent ? undefined : command.commands.find((each) => each.name() === "stdio");
  return [...own, ...(byDefault?.options ?? []), ...(command.parent ? allOptions(command.parent) : [])];
}

function options({ command, used }: State): Suggestions {
  const offered = allOptions(command).filter((option) => option.long !== "--version" || !command.parent);
  const words = offered
    .filter((option) => !used.includes(option))
    .map((option) => ({ word: option.long ?? option.short ?? "", description: option.description }));
  return { words: uniqueBy(words), files: false };
}

function uniqueBy(words: readonly Suggestion[]): Suggestion[] {
  return [...new Map(words.map((each) => [each.word, each])).values()];
}

function valuesOf(of: Option | Argument): Suggestions {
  const placeholder = "flags" in of ? of.flags : `<${of.name()}>`;
  const words = (of.argChoices ?? []).map((word) => ({ word, description: "" }));
  return { words, files: /[<[](?:file|directory|path)\b/.test(placeholder) };
}

/** Of a list with commas the last value is being typed, and none is given twice. */
function matching({ words, files }: Suggestions, typed: string): Suggestions {
  const comma = typed.lastIndexOf(",");
  const begun = typed.slice(0, comma + 1);
  const given = begun.replace(/^--[^=]+=/, "").split(",");
  const continued = words
    .filter(({ word }) => comma < 0 || !given.includes(word.replace(/^--[^=]+=/, "")))
    .map(({ word, description }) => ({
      word: comma < 0 ? word : `${begun}${word.replace(/^--[^=]+=/, "")}`,
      description,
    }));
  return { words: continued.filter(({ word }) => word.startsWith(typed)), files };
}
