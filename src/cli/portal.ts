import type { Command } from "commander";
import { portalCommands } from "../commands/portal-options.ts";
import type { Options } from "../commands/terminal/output.ts";
import { loadConfig } from "../config/load.ts";
import { addOptions } from "../config/options.ts";
import { addExamples } from "./help.ts";
import { businessOption, createChoiceOption, createSubcommand, jsonOption, parseWholeNumber } from "./options.ts";

export function addPortal(portal: Command): void {
  for (const { name, act, description, example, options } of portalCommands) {
    const sub = createSubcommand(portal, name, description, "portal").option(...businessOption);
    for (const { flags, description: help, required, choices } of options) {
      sub.addOption(createChoiceOption(flags, help, choices).makeOptionMandatory(required));
    }
    addExamples(sub, [`portal ${name} ${example}`, description.charAt(0).toLowerCase() + description.slice(1)]);
    sub.action(async (given: Options) =>
      (await import("../commands/portal.ts")).runPortalAction(loadConfig(process.env, given), act, given),
    );
  }
}

export function addSimulate(command: Command): void {
  addOptions(command, "simulate")
    .option(...businessOption)
    .option("--seed <number>", "the seed of the random choices; equal seeds repeat the season", "1")
    .option("--applicants <number>", "the number of applicants, at least 16", "200")
    .option("--reviewers <number>", "the number of reviewers, at least 4", "40")
    .option("--speed <speed>", "`fast`, or how many times faster than real time: 86400 is one day per second", "fast")
    .option(...jsonOption)
    .action(async (options: Options) => {
      const speed = String(options["speed"]);
      const given = {
        business: options["business"] as string | undefined,
        seed: parseWholeNumber("--seed", options["seed"]),
        applicants: parseWholeNumber("--applicants", options["applicants"], 16),
        reviewers: parseWholeNumber("--reviewers", options["reviewers"], 4, 1_000),
        factor: speed === "fast" ? undefined : parseWholeNumber("--speed", speed, 1, 1_000_000_000),
        json: options["json"] === true,
      };
      const { runSimulation } = await import("../commands/simulate.ts");
      await runSimulation(loadConfig(process.env, options), given);
    });
  addExamples(
    command,
    ["simulate --applicants 50 --reviewers 10", "simulate a small season at full speed"],
    ["simulate --speed 86400", "simulate one day per second, to watch webhooks and subscriptions"],
  );
}
