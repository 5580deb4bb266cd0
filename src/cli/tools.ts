import type { Command } from "commander";
import { loadConfig } from "../config/load.ts";
import { addOptions } from "../config/options.ts";
import { addExamples } from "./help.ts";
import { jsonOption } from "./options.ts";

export function addTools(command: Command): void {
  addOptions(command, "tools")
    .option(...jsonOption)
    .action(async (options) => {
      const { printTools } = await import("../commands/tools.ts");
      await printTools(loadConfig(process.env, options), options.json === true);
    });
  addExamples(
    command,
    ["tools --toolsets submissions,reviews", "the tokens that the tools of two nouns cost"],
    ["tools --read-only --json", "print the same as JSON"],
  );
}

export function addDoctor(command: Command): void {
  addOptions(command, "doctor")
    .option(...jsonOption)
    .action(async (options) => {
      const { runDoctor } = await import("../commands/doctor/doctor.ts");
      await runDoctor(process.env, options);
    });
  addExamples(
    command,
    ["doctor --database programme.db", "test an embedded service"],
    ["doctor --base-url https://programmes.example.org", "test a remote service with the token in PROGRAMME_TOKEN"],
  );
}

export function addVersion(command: Command): void {
  command.option(...jsonOption).action(async (options) => {
    const { printVersion } = await import("../commands/version.ts");
    printVersion(options.json === true);
  });
  addExamples(command, ["version --json", "print what a bug report should include"]);
}
