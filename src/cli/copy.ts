import type { Command } from "commander";
import { loadConfig } from "../config/load.ts";
import { addExamples } from "./help.ts";
import { jsonOption } from "./options.ts";

export function addCopy(command: Command): void {
  command
    .option("--from <file or address>", "the database to copy; default: PROGRAMME_DATABASE, or the default database")
    .option(
      "--to <file or address>",
      "the database to fill: a new one, or an unfinished copy; default: PROGRAMME_DATABASE",
    )
    .option("--verify", "compare every row of the two databases; copies nothing")
    .option(...jsonOption)
    .action(async (options) => {
      const { copyData } = await import("../commands/copy.ts");
      await copyData(loadConfig(process.env), options);
    });
  addExamples(
    command,
    [
      "copy --from programme.db --to postgres://programme@db.internal/programme",
      "copy from SQLite to PostgreSQL, whose password is in PGPASSWORD",
    ],
    ["copy --from programme.db", "copy to the database in PROGRAMME_DATABASE; repeat it to continue or to catch up"],
    ["copy --from programme.db --to copy.db --verify", "compare two databases"],
  );
}
