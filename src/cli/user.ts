import type { Command } from "commander";
import { roles } from "../contract/access/roles.ts";
import { addExamples } from "./help.ts";
import { businessOption, createChoiceOption, createSubcommand } from "./options.ts";

const sensitiveText = "show the person sensitive personal data, which no role includes";
const printOption = ["--print", "print the link, even if a mail server could send it"] as const;
const emailText = "the person's e-mail address";

export function addUser(user: Command): void {
  const invite = createSubcommand(
    user,
    "invite",
    "add a person, and mail or print the one-time link for a password",
    "user",
  )
    .argument("<email>", emailText)
    .addOption(createChoiceOption("--role <role>", "owner, staff or viewer", roles, "viewer"))
    .option("--sensitive", sensitiveText)
    .option(...businessOption)
    .option(...printOption)
    .action(async (email: string, options) => (await import("../commands/users.ts")).inviteUser(email, options));
  const list = createSubcommand(user, "list", "list the people who sign in", "user").action(async (options) =>
    (await import("../commands/users.ts")).listUsers(options),
  );
  const update = createSubcommand(user, "update", "change a person's role; takes effect at once", "user")
    .argument("<email>", emailText)
    .addOption(createChoiceOption("--role <role>", "owner, staff or viewer", roles))
    .option("--sensitive", sensitiveText)
    .option("--no-sensitive", "hide sensitive personal data from the person")
    .action(async (email: string, options) => (await import("../commands/users.ts")).updateUser(email, options));
  const link = createSubcommand(
    user,
    "link",
    "mail or print a new one-time link for a person who lost the password",
    "user",
  )
    .argument("<email>", emailText)
    .option(...printOption)
    .action(async (email: string, options) => (await import("../commands/users.ts")).issueUserLink(email, options));
  const disable = createSubcommand(user, "disable", "end all access of a person; takes effect at once", "user")
    .argument("<email>", emailText)
    .action(async (email: string, options) => (await import("../commands/users.ts")).disableUser(email, options));
  const enable = createSubcommand(user, "enable", "let a disabled person sign in again", "user")
    .argument("<email>", emailText)
    .action(async (email: string, options) => (await import("../commands/users.ts")).enableUser(email, options));
  const remove = createSubcommand(user, "remove", "delete a person; the audit log keeps what the person did", "user")
    .argument("<email>", emailText)
    .action(async (email: string, options) => (await import("../commands/users.ts")).removeUser(email, options));
  addExamples(
    invite,
    ["user invite rita@example.org --role staff", "someone who reads and changes everything"],
    ["user invite otto@example.org --role owner --sensitive", "another owner, who also sees contact details"],
  );
  addExamples(list, ["user list --json", "print all people as JSON"]);
  addExamples(update, ["user update rita@example.org --role viewer --no-sensitive", "let a person only read"]);
  addExamples(link, ["user link rita@example.org", "a new link in place of a lost password"]);
  addExamples(disable, ["user disable rita@example.org", "end the person's sessions and connected apps"]);
  addExamples(enable, ["user enable rita@example.org", "undo it; the person signs in again"]);
  addExamples(remove, ["user remove rita@example.org", "delete the account with its sessions and passkeys"]);
}
