import { styleText } from "node:util";
import { type Command, Help, type HelpConfiguration, type Option } from "commander";

/** A complete command line, and its purpose. */
export interface Example {
  readonly line: string;
  readonly purpose: string;
}

const examples = new WeakMap<Command, readonly Example[]>();

/** Adds examples to the end of a command's help, and to its page. */
export function addExamples(
  command: Command,
  ...lines: readonly (readonly [line: string, purpose: string])[]
): Command {
  const shown = lines.map(([line, purpose]) => ({ line: `programme-mcp ${line}`, purpose }));
  examples.set(command, shown);
  return command.addHelpText("after", () => {
    const text = shown.map(({ line, purpose }) => `  ${styleHelpText("dim", `# ${purpose}`)}\n  ${line}\n`);
    return `\n${styleHelpText("bold", "Examples:")}\n${text.join("")}`.trimEnd();
  });
}

export function getExamples(command: Command): readonly Example[] {
  return examples.get(command) ?? [];
}

/** Exit codes, for the end of the program's help and the page of commands. */
export const exitCodes: readonly (readonly [code: string, meaning: string])[] = [
  ["0", "success, or a server that stopped on request after finishing its work"],
  ["1", "failure, for the reason printed; doctor: a check failed, or no call could be tested"],
  ["2", "an argument or a setting is wrong; nothing was done"],
  ["129, 130, 143", "interrupted (SIGHUP, SIGINT, SIGTERM) before the end"],
];

export function formatExitCodes(): string {
  const rows = exitCodes.map(([code, meaning]) => `  ${code.padEnd(15)}${meaning}`);
  return `\n${styleHelpText("bold", "Exit codes:")}\n${rows.join("\n")}`;
}

/** Longer lists of choices appear in completion only. */
const maxShownChoices = 8;

export const helpConfiguration: HelpConfiguration = {
  styleTitle: (title) => styleHelpText("bold", title),
  styleCommandText: (text) => styleHelpText("cyan", text),
  styleSubcommandText: (text) => styleHelpText("cyan", text),
  styleOptionText: (text) => styleHelpText("cyan", text),
  styleArgumentText: (text) => styleHelpText("cyan", text),
  optionDescription: describeOption,
  subcommandTerm: (command) => command.name(),
  // A command's own options come before the settings.
  groupItems(unsorted, visible, groupOf) {
    const groups = Help.prototype.groupItems(unsorted, visible, groupOf);
    const own = groups.get("Options:");
    return own ? new Map([["Options:", own], ...groups]) : groups;
  },
};

export function describeOption({ flags, description, argChoices, defaultValue, mandatory }: Option): string {
  const isShown = argChoices && argChoices.length <= maxShownChoices && !flags.includes("|");
  const choices = isShown ? [`one of ${argChoices.join(", ")}`] : [];
  const preset = defaultValue === undefined || defaultValue === false ? [] : [`default: ${defaultValue}`];
  const extra = [...(mandatory ? ["required"] : []), ...choices, ...preset];
  return extra.length === 0 ? description : `${description} (${extra.join("; ")})`;
}

/** commander removes colours again where they are not wanted. */
function styleHelpText(format: Parameters<typeof styleText>[0], text: string): string {
  return styleText(format, text, { validateStream: false });
}
