import type { Command } from "commander";
import { loadConfig } from "../config/load.ts";
import { addOptions } from "../config/options.ts";
import { peopleKinds } from "../contract/set-up/people.ts";
import { addExamples } from "./help.ts";
import { businessOption, createChoiceOption, jsonOption } from "./options.ts";

export function addImport(command: Command): void {
  addOptions(command, "import")
    .argument("<file>", "a programme (.yaml or .json), or with --as people (.csv)")
    .addOption(createChoiceOption("--as <kind>", "import people from CSV: persons or applicants", peopleKinds))
    .option("--program <programId>", "the programme of applicants")
    .option("--track <name or id>", "the track of applicants, if the file has no column for it")
    .option("--map <header=column...>", "the columns that headers of the file stand for; `Header=` leaves one out")
    .option("--source <name>", "the system that persons come from, and the namespace of their external ids", "import")
    .option("--skip-invalid", "leave rows with mistakes out; otherwise one of them refuses the file")
    .option("--dry-run", "report what would be created, changed and left, and write nothing")
    .option(...businessOption)
    .option("--new-business <name>", "create the organisation with this name, unless there is one")
    .option(...jsonOption)
    .action(async (file: string, options) => {
      const { importPeople, importProgram } = await import("../commands/import.ts");
      const config = loadConfig(process.env, options);
      if (options.as === undefined) await importProgram(config, file, options);
      else await importPeople(config, file, options.as, options);
    });
  addExamples(
    command,
    ["import programme.yaml --dry-run --database programme.db", "report mistakes and what would change"],
    ["import programme.yaml --database programme.db", "create or change the programme; repeat it after each edit"],
    [
      "import people.csv --as persons --map E-Mail=email Notes= --database programme.db",
      "create or change persons; the column Notes is left out",
    ],
  );
}

export function addExportConfig(command: Command): void {
  addOptions(command, "import")
    .argument("<programId>", "the programme")
    .argument("[file]", "the file to write; default: print it")
    .option("--force", "replace the file if it exists")
    .option(...businessOption)
    .option(...jsonOption)
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
