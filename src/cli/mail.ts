import type { Command } from "commander";
import type { Options } from "../commands/output.ts";
import { loadConfig } from "../config/load.ts";
import { addExamples } from "./help.ts";
import { businessOption, subcommand } from "./options.ts";

const commands = () => import("../commands/mail.ts");
const configured = (options: Options) => loadConfig(process.env, options);

export function addMail(mail: Command): void {
  const sub = (name: string, description: string) =>
    subcommand(mail, name, description, "mail").option(...businessOption);
  const address = ["<address>", "an e-mail address"] as const;

  const suppress = sub("suppress", "send nothing more to an address")
    .argument(...address)
    .option("--unsubscribed", "because its owner asked for that")
    .option("--bounced", "because there is no such mailbox")
    .action(async (email: string, options) => (await commands()).suppressAddress(configured(options), email, options));
  const allow = sub("allow", "send to a suppressed address again")
    .argument(...address)
    .action(async (email: string, options) => (await commands()).allowAddress(configured(options), email, options));
  const suppressed = sub("suppressed", "list the addresses that nothing is sent to").action(async (options) =>
    (await commands()).listSuppressions(configured(options), options),
  );
  const retry = sub("retry", "queue a message again that failed, bounced or was suppressed")
    .argument("<emailSendId>", "its id")
    .action(async (id: string, options) => (await commands()).retryMessage(configured(options), id, options));
  addExamples(suppress, ["mail suppress noor@example.org --unsubscribed", "as its owner asked"]);
  addExamples(allow, ["mail allow noor@example.org", "she has asked for it"]);
  addExamples(retry, ["mail retry eml_01JB2Q5Y8ZV3K7N4M6P9R0S1T2", "once the mailbox is there again"]);
  addExamples(suppressed, ["mail suppressed --json", "a line of JSON for each address"]);
}
