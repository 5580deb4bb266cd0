import { type Command, Option } from "commander";
import type { CommandName } from "./setting.ts";
import { defaultInWords, settings } from "./table.ts";

/** Gives a command the options of the settings that belong to it; `loadConfig` reads what they parse to. */
export function addOptions(command: Command, name: CommandName): Command {
  for (const [, setting] of settings) {
    if (setting.option && setting.commands.includes(name)) {
      const description = `${setting.help} Default: ${defaultInWords(setting)}. (${setting.variable})`;
      command.addOption(new Option(setting.option, description.replaceAll("`", "")));
    }
  }
  return command;
}
