import { type Command, Option } from "commander";
import { type CommandName, type Setting, settingGroups } from "./setting.ts";
import { describeDefault, settings } from "./table.ts";

/** Gives a command the options of the settings that belong to it; `loadConfig` reads what they parse to. */
export function addOptions(command: Command, name: CommandName): Command {
  const own = settings.map(([, setting]) => setting).filter(({ commands }) => commands.includes(name));
  for (const setting of settingGroups.flatMap((group) => own.filter((each) => each.group === group))) {
    if (setting.option) command.addOption(createOption(setting.option, setting));
  }
  return command.addHelpText("after", formatVariables(own));
}

/** Lists the settings that have no option, the access token first. */
function formatVariables(own: readonly Setting[]): string {
  const secrets = settingGroups.flatMap((group) => own.filter((each) => each.group === group && !each.option));
  const rows = secrets.map(
    ({ variable, help }) => `  ${variable.padEnd(36)}${getFirstSentence(help).replaceAll("`", "")}`,
  );
  if (rows.length === 0) return "";
  return ["\nVariables, which have no option because others can see a process's arguments:", ...rows].join("\n");
}

function createOption(flags: string, setting: Setting): Option {
  const { help, variable, group, type } = setting;
  const described = `${getFirstSentence(help)} Default: ${describeDefault(setting)}. (${variable})`;
  const option = new Option(flags, described.replaceAll("`", "")).helpGroup(`${group}:`);
  // For completion and help only: `loadConfig` validates options and variables alike.
  if (type.choices) option.argChoices = [...type.choices];
  return option;
}

/** Help shows one sentence; `docs/configuration.md` has the whole text. */
function getFirstSentence(text: string): string {
  return /^.*?[.;:](?=\s|$)(?<!e\.g\.)/s.exec(text)?.[0].replace(/[;:]$/, ".") ?? text;
}
