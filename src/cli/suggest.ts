import type { Argument, Command, Option } from "commander";

/** The suggestions at the cursor. */
export interface Suggestions {
  readonly words: readonly Suggestion[];
  /** The word may be the path of a file. */
  readonly files: boolean;
}

export interface Suggestion {
  readonly word: string;
  readonly description: string;
}

const nothing: Suggestions = { words: [], files: false };

/**
 * Suggests words for a command line.
 * @param words - the words after the program's name, as typed so far; the last one is incomplete and may be empty
 */
export function suggestWords(root: Command, words: readonly string[]): Suggestions {
  const typed = words.at(-1) ?? "";
  const state = words
    .slice(0, -1)
    .reduce(advance, { command: root, operands: 0, used: [], awaits: undefined, ended: false });
  return filterMatching(listCandidates(state, typed), typed);
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
    const option = findOption(command, word.replace(/=.*$/s, ""));
    if (!option) return state;
    return { ...state, used: [...used, option], awaits: option.required && !word.includes("=") ? option : undefined };
  }
  const sub = listSubcommands(command).find((each) => each.name() === word);
  return sub ? { ...state, command: sub, operands: 0 } : { ...state, operands: operands + 1 };
}

function listCandidates(state: State, typed: string): Suggestions {
  const { command, awaits, ended, operands } = state;
  if (awaits) return suggestValues(awaits);
  if (typed.startsWith("-") && !ended) {
    const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(typed) ?? [];
    if (flag === undefined || value === undefined) return suggestOptions(state);
    const option = findOption(command, flag);
    const values = option ? suggestValues(option) : nothing;
    const words = values.words.map(({ word, description }) => ({ word: `${flag}=${word}`, description }));
    return { ...values, words };
  }
  const names = listSubcommands(command);
  if (names.length > 0) {
    return { words: names.map((each) => ({ word: each.name(), description: each.description() })), files: false };
  }
  const argument = command.registeredArguments[operands];
  if (argument) return suggestValues(argument);
  return ended ? nothing : suggestOptions(state);
}

function listSubcommands(command: Command): Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== command.name());
}

function findOption(command: Command, flag: string): Option | undefined {
  return listOptions(command).find(({ long, short }) => long === flag || short === flag);
}

/** Lists the options of a command, of the groups above it, and of the command that the program runs by default. */
function listOptions(command: Command): Option[] {
  const own = command.createHelp().visibleOptions(command);
  const byDefault = command.parent ? undefined : command.commands.find((each) => each.name() === "stdio");
  return [...own, ...(byDefault?.options ?? []), ...(command.parent ? listOptions(command.parent) : [])];
}

function suggestOptions({ command, used }: State): Suggestions {
  const offered = listOptions(command).filter((option) => option.long !== "--version" || !command.parent);
  const words = offered
    .filter((option) => !used.includes(option))
    .map((option) => ({ word: option.long ?? option.short ?? "", description: option.description }));
  return { words: removeDuplicates(words), files: false };
}

function removeDuplicates(words: readonly Suggestion[]): Suggestion[] {
  return [...new Map(words.map((each) => [each.word, each])).values()];
}

function suggestValues(of: Option | Argument): Suggestions {
  const placeholder = "flags" in of ? of.flags : `<${of.name()}>`;
  const words = (of.argChoices ?? []).map((word) => ({ word, description: "" }));
  return { words, files: /[<[](?:file|directory|path)\b/.test(placeholder) };
}

/**
 * In a comma-separated list, only the last value is incomplete, and values that are already given are not suggested.
 */
function filterMatching({ words, files }: Suggestions, typed: string): Suggestions {
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
