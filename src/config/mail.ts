import type { Setting } from "./setting.ts";
import { createIntegerType, mailbox, smtpUrl } from "./values.ts";

const serving = ["stdio", "http", "console"] as const;

/** Settings of outgoing mail. */
export const mailSettings = {
  smtpUrl: {
    variable: "PROGRAMME_SMTP_URL",
    group: "E-mail",
    type: smtpUrl,
    defaultText: "none: messages are kept as `.eml` files beside the database",
    secret: true,
    help: "The mail server that sends messages: `smtp://` (encrypted if the server supports it, and always with credentials) or `smtps://`. Has no option, because other users can see a process's arguments.",
    commands: serving,
  },
  mailFrom: {
    variable: "PROGRAMME_MAIL_FROM",
    group: "E-mail",
    option: "--mail-from <mailbox>",
    type: mailbox,
    defaultText: "`no-reply@localhost` in files; needed with `PROGRAMME_SMTP_URL`",
    help: "The sender of messages: an address, or a name and an address as in `Open Calls <calls@example.org>`.",
    commands: serving,
  },
  smtpTimeoutSeconds: {
    variable: "PROGRAMME_SMTP_TIMEOUT_SECONDS",
    group: "E-mail",
    option: "--smtp-timeout-seconds <number>",
    type: createIntegerType(1, 3_600),
    default: 600,
    help: "How long the mail server may take to accept a connection, and again to answer after a message. A message without an answer is not sent again.",
    commands: serving,
  },
  mailConcurrency: {
    variable: "PROGRAMME_MAIL_CONCURRENCY",
    group: "E-mail",
    option: "--mail-concurrency <number>",
    type: createIntegerType(1, 32),
    default: 4,
    help: "The number of concurrent connections to the mail server.",
    commands: serving,
  },
  mailFileDays: {
    variable: "PROGRAMME_MAIL_FILE_DAYS",
    group: "E-mail",
    option: "--mail-file-days <number>",
    type: createIntegerType(1, 36_500),
    default: 30,
    help: "The number of days that `.eml` files are kept; `list_email_sends` shows the messages afterwards too.",
    commands: serving,
  },
} as const satisfies Record<string, Setting>;
