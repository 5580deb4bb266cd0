import type { Setting } from "./setting.ts";
import { createIntegerType, mailbox, smtpUrl } from "./values.ts";

const serving = ["stdio", "http"] as const;

/** How messages go out. */
export const mailSettings = {
  smtpUrl: {
    variable: "PROGRAMME_SMTP_URL",
    group: "E-mail",
    type: smtpUrl,
    defaultText: "none: messages are kept as `.eml` files beside the database",
    secret: true,
    help: "The mail server that messages are sent through: `smtp://` (encrypted where the server can, and always where there are credentials) or `smtps://`. Has no option, because other users can see a process's arguments.",
    commands: serving,
  },
  mailFrom: {
    variable: "PROGRAMME_MAIL_FROM",
    group: "E-mail",
    option: "--mail-from <mailbox>",
    type: mailbox,
    defaultText: "`no-reply@localhost` in files; needed with `PROGRAMME_SMTP_URL`",
    help: "Who messages come from: an address, or a name and an address as in `Open Calls <calls@example.org>`.",
    commands: serving,
  },
  smtpTimeoutSeconds: {
    variable: "PROGRAMME_SMTP_TIMEOUT_SECONDS",
    group: "E-mail",
    option: "--smtp-timeout-seconds <number>",
    type: createIntegerType(1, 3_600),
    default: 600,
    help: "How long the mail server may take until a message can be handed over, and again for its answer to that. A message without an answer is not sent again.",
    commands: serving,
  },
  mailConcurrency: {
    variable: "PROGRAMME_MAIL_CONCURRENCY",
    group: "E-mail",
    option: "--mail-concurrency <number>",
    type: createIntegerType(1, 32),
    default: 4,
    help: "Connections to the mail server at once.",
    commands: serving,
  },
  mailFileDays: {
    variable: "PROGRAMME_MAIL_FILE_DAYS",
    group: "E-mail",
    option: "--mail-file-days <number>",
    type: createIntegerType(1, 36_500),
    default: 30,
    help: "How long messages stay that were kept as `.eml` files; `list_email_sends` shows them all the same.",
    commands: serving,
  },
} as const satisfies Record<string, Setting>;
