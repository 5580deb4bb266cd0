import type { Command } from "commander";
import type { Options } from "../commands/terminal/output.ts";
import { loadConfig } from "../config/load.ts";
import { addExamples } from "./help.ts";
import { businessOption, createSubcommand } from "./options.ts";

const loadCommands = () => import("../commands/mail.ts");
const loadSettings = (options: Options) => loadConfig(process.env, options);

export function addMail(mail: Command): void {
  const addSubcommand = (name: string, description: string) =>
    createSubcommand(mail, name, description, "mail").option(...businessOption);
  const address = ["<address>", "an e-mail address"] as const;

  const suppress = addSubcommand("suppress", "send nothing more to an address")
    .argument(...address)
    .option("--unsubscribed", "because its owner asked for it")
    .option("--bounced", "because the mailbox does not exist")
    .action(async (email: string, options) =>
      (await loadCommands()).suppressAddress(loadSettings(options), email, options),
    );
  const allow = addSubcommand("allow", "send to a suppressed address again")
    .argument(...address)
    .action(async (email: string, options) =>
      (await loadCommands()).allowAddress(loadSettings(options), email, options),
    );
  const suppressed = addSubcommand("suppressed", "list the addresses that nothing is sent to").action(async (options) =>
    (await loadCommands()).listSuppressions(loadSettings(options), options),
  );
  const retry = addSubcommand("retry", "queue a failed, bounced or suppressed message again")
    .argument("<emailSendId>", "its id")
    .action(async (id: string, options) => (await loadCommands()).retryMessage(loadSettings(options), id, options));
  addExamples(suppress, ["mail suppress noor@example.org --unsubscribed", "as its owner asked"]);
  addExamples(allow, ["mail allow noor@example.org", "its owner wants mail again"]);
  addExamples(retry, ["mail retry eml_01JB2Q5Y8ZV3K7N4M6P9R0S1T2", "once the mailbox exists again"]);
  addExamples(suppressed, ["mail suppressed --json", "print a line of JSON for each address"]);
}
