import type { Command } from "commander";
import { loadConfig } from "../config/load.ts";
import { addOptions } from "../config/options.ts";
import { addExamples } from "./help.ts";
import { jsonOption, parseWholeNumber } from "./options.ts";

export function addMigrate(command: Command): void {
  addOptions(command, "migrate")
    .option(...jsonOption)
    .action(async (options) => {
      const { runMigrate } = await import("../commands/database.ts");
      await runMigrate(loadConfig(process.env, options), options);
    });
  addExamples(command, [
    "migrate --database programme.db",
    "migrate once before several processes of a new version start",
  ]);
}

export function addSeed(command: Command): void {
  addOptions(command, "seed")
    .requiredOption("--demo", "create programmes, submissions, reviewers and persons of two invented organisations")
    .option("--seed <number>", "the seed of the random data; equal seeds repeat the data", "1")
    .option("--scale <number>", "a factor for the volume of data", "1")
    .option(...jsonOption)
    .action(async ({ demo: _, ...options }) => {
      const given = {
        seed: parseWholeNumber("--seed", options.seed),
        scale: parseWholeNumber("--scale", options.scale),
      };
      const { runSeed } = await import("../commands/database.ts");
      await runSeed(loadConfig(process.env, options), { ...given, json: options.json === true });
    });
  addExamples(command, ["seed --demo --scale 10 --database demo.db", "create ten times as many submissions"]);
}
