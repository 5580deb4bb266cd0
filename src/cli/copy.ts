import type { Command } from "commander";
import { loadConfig } from "../config/load.ts";
import { addExamples } from "./help.ts";
import { jsonOption } from "./options.ts";

export function addCopy(command: Command): void {
  command
    .option(
      "--from <file or address>",
      "the database to copy; PROGRAMME_DATABASE or the default one where it is not given",
    )
    .option(
      "--to <file or address>",
      "the database to fill: a new one, or a copy that was begun; else PROGRAMME_DATABASE",
    )
    .option("--verify", "copy nothing: compare every row of the two")
    .option(...jsonOption)
    .action(async (options) => {
      const { copyData } = await import("../commands/copy.ts");
      await copyData(loadConfig(process.env), options);
    });
  addExamples(
    command,
    [
      "copy --from programme.db --to postgres://programme@db.internal/programme",
      "from SQLite to PostgreSQL, whose password is in PGPASSWORD",
    ],
    ["copy --from programme.db", "to the database in PROGRAMME_DATABASE; again, to go on or to catch up"],
    ["copy --from programme.db --to copy.db --verify", "whether two databases hold the same"],
  );
}
