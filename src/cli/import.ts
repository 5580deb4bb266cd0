import type { Command } from "commander";
import { loadConfig } from "../config/load.ts";
import { addOptions } from "../config/options.ts";
import { addExamples } from "./help.ts";
import { businessOption, jsonOption } from "./options.ts";

export function addImport(command: Command): void {
  addOptions(command, "import")
    .argument("<file>", "a programme (.yaml or .json)")
    .option("--dry-run", "report what would be created, changed and left, and write nothing")
    .option(...businessOption)
    .option("--new-business <name>", "create the organisation with this name, unless there is one")
    .option(...jsonOption)
    .action(async (file: string, options) => {
      const { importProgram } = await import("../commands/import.ts");
      await importProgram(loadConfig(process.env, options), file, options);
    });
  addExamples(
    command,
    ["import programme.yaml --dry-run --database programme.db", "report mistakes and what would change"],
    ["import programme.yaml --database programme.db", "create or change the programme; repeat it after each edit"],
  );
}

export function addExportConfig(command: Command): void {
  addOptions(command, "import")
    .argument("<programId>", "the programme")
    .argument("[file]", "the file to write; default: print it")
    .option("--force", "replace the file if it exists")
    .option(...businessOption)
    .action(async (programId: string, file: string | undefined, options) => {
      const { exportProgram } = await import("../commands/import.ts");
      await exportProgram(loadConfig(process.env, options), programId, file, options);
    });
  addExamples(command, [
    "export-config prg_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 next-year.yaml --database programme.db",
    "begin next year's programme with this one: change its name or year, then import it",
  ]);
}

export function addTemplate(command: Command): void {
  command
    .option("--schema", "print the JSON Schema, with which editors check a file")
    .action(async (options: { readonly schema?: boolean }) => {
      const { printTemplate } = await import("../commands/template.ts");
      printTemplate(options.schema === true);
    });
  addExamples(
    command,
    ["template > programme.yaml", "begin a programme with an example"],
    ["template --schema > programme.schema.json", "the JSON Schema that its first line names"],
  );
}
