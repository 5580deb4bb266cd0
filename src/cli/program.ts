import { Command, type CommanderError, Option } from "commander";
import { UsageError } from "../config/usage-error.ts";
import { suggestWord } from "../lib/did-you-mean.ts";
import { version } from "../lib/version.ts";
import { addExamples, formatExitCodes, helpConfiguration } from "./help.ts";

/** A command whose content is loaded when it is needed. */
interface Branch {
  readonly name: string;
  readonly description: string;
  readonly group: string;
  readonly isDefault?: boolean;
  readonly hidden?: boolean;
  readonly load: () => Promise<(command: Command) => void>;
}

const [serve, use, manage, tryOut] = ["Serve:", "Use:", "Manage:", "Try out:"] as const;

const branches: readonly Branch[] = [
  {
    name: "stdio",
    description: "serve MCP over stdin and stdout (what a client starts)",
    group: serve,
    isDefault: true,
    load: async () => (await import("./serve.ts")).addStdio,
  },
  {
    name: "http",
    description: "serve MCP and REST over HTTP",
    group: serve,
    load: async () => (await import("./serve.ts")).addHttp,
  },
  {
    name: "console",
    description: "serve the pages for people alone, beside what AI clients start over stdio",
    group: serve,
    load: async () => (await import("./serve.ts")).addConsole,
  },
  {
    name: "config",
    description: "print or write the settings that connect an AI client to this server",
    group: use,
    load: async () => (await import("./config.ts")).addConfig,
  },
  {
    name: "tools",
    description: "list the tools with their scopes, effects and the tokens that their list costs",
    group: use,
    load: async () => (await import("./tools.ts")).addTools,
  },
  {
    name: "doctor",
    description: "test the configuration from end to end and report what to fix",
    group: use,
    load: async () => (await import("./tools.ts")).addDoctor,
  },
  {
    name: "completion",
    description: "print the script that completes this program's commands in a shell",
    group: use,
    load: async () => (await import("./completion.ts")).addCompletion,
  },
  {
    name: "version",
    description: "print the versions of the program and of its platform",
    group: use,
    load: async () => (await import("./tools.ts")).addVersion,
  },
  {
    name: "template",
    description: "print an example of a programme's file for import",
    group: manage,
    load: async () => (await import("./import.ts")).addTemplate,
  },
  {
    name: "import",
    description: "create or change a programme with its tracks, rounds, forms, rubrics and reviewers from a file",
    group: manage,
    load: async () => (await import("./import.ts")).addImport,
  },
  {
    name: "export-config",
    description: "write a programme to a file that import reads",
    group: manage,
    load: async () => (await import("./import.ts")).addExportConfig,
  },
  {
    name: "token",
    description: "create, list and revoke access tokens",
    group: manage,
    load: async () => (await import("./token.ts")).addToken,
  },
  {
    name: "user",
    description: "invite, list and remove people who sign in",
    group: manage,
    load: async () => (await import("./user.ts")).addUser,
  },
  {
    name: "gateway-key",
    description: "create keys for callers of MCP over HTTP",
    group: manage,
    load: async () => (await import("./token.ts")).addGatewayKey,
  },
  {
    name: "webhook",
    description: "manage webhook endpoints and their deliveries",
    group: manage,
    load: async () => (await import("./webhook.ts")).addWebhookCommands,
  },
  {
    name: "mail",
    description: "manage outgoing e-mail",
    group: manage,
    load: async () => (await import("./mail.ts")).addMail,
  },
  {
    name: "migrate",
    description: "migrate the database to this version",
    group: manage,
    load: async () => (await import("./database.ts")).addMigrate,
  },
  {
    name: "copy",
    description: "copy a database to another, also between SQLite and PostgreSQL",
    group: manage,
    load: async () => (await import("./copy.ts")).addCopy,
  },
  {
    name: "seed",
    description: "fill a database with demonstration data",
    group: tryOut,
    load: async () => (await import("./database.ts")).addSeed,
  },
  {
    name: "portal",
    description: "act as an applicant, a reviewer or staff",
    group: tryOut,
    load: async () => (await import("./portal.ts")).addPortal,
  },
  {
    name: "simulate",
    description: "simulate a whole season: applicants, reviewers, decisions, all types of events",
    group: tryOut,
    load: async () => (await import("./portal.ts")).addSimulate,
  },
  {
    name: "complete",
    description: "print the words that may follow a command line",
    group: use,
    hidden: true,
    load: async () => {
      const { addComplete } = await import("./completion.ts");
      return (command) => addComplete(command, () => buildProgram());
    },
  },
];

/**
 * Builds the tree of commands.
 * @param args - builds only the commands that these arguments name; by default all of them
 * @throws UsageError for a command that does not exist
 */
export async function buildProgram(args?: readonly string[]): Promise<Command> {
  const root = new Command("programme-mcp")
    .description("Calls for applications as MCP tools, with an embedded programme service.")
    .version(version, "-V, --version", "print the version")
    .option("--no-color", "print without colours, as with NO_COLOR; --color prints colours everywhere")
    .addOption(new Option("--color").hideHelp())
    .helpOption("-h, --help", "print help for the program or a command")
    .helpCommand("help [command]", "print help for a command")
    .commandsGroup(use)
    .configureHelp(helpConfiguration)
    .configureOutput({ outputError: () => undefined })
    .addHelpText("after", formatExitCodes);
  addExamples(
    root,
    ["http", "serve the demonstration, and print what a client needs"],
    ["config claude-desktop --write", "connect Claude Desktop to this server"],
    ["doctor", "report what does not work yet"],
  );
  if (args) refuseUnknown(args);
  const wanted = args && new Set(listNamedCommands(args));
  for (const { name, description, group, isDefault = false, hidden = false, load } of branches) {
    const command = root.command(name, { isDefault, hidden }).description(description).helpGroup(group);
    if (wanted?.has(name) ?? true) (await load())(command);
  }
  explainMistakes(root);
  return root;
}

/** Lists the commands that the arguments may name. Other arguments with the same name do no harm. */
function listNamedCommands(args: readonly string[]): readonly string[] {
  const named = branches.filter(({ name }) => args.includes(name)).map(({ name }) => name);
  return isOption(findOperand(args)) ? [...named, "stdio"] : named;
}

function isOption(arg: string | undefined): boolean {
  return arg?.startsWith("-") ?? true;
}

/** Returns the first argument that is not about colours. */
function findOperand(args: readonly string[]): string | undefined {
  return args.find((arg) => !/^--(no-)?color$/.test(arg));
}

function refuseUnknown(args: readonly string[]): void {
  const operand = findOperand(args);
  const known = [...branches.filter(({ hidden }) => !hidden).map(({ name }) => name), "help"];
  if (operand === undefined || isOption(operand) || [...known, "complete"].includes(operand)) return;
  throw new UsageError(
    `${JSON.stringify(operand)} is not a command.${suggestWord(operand, known)} See: programme-mcp --help`,
  );
}

/** Shortens commander's message to one line, and adds a reference to the help. */
function explainMistakes(command: Command): void {
  command.exitOverride((error: CommanderError) => {
    if (error.exitCode === 0 || error.code === "commander.help") throw error;
    const message = error.message.replace(/^error: /, "").replace(/\s*\n\s*/g, " ");
    throw new UsageError(`${/[.?)]$/.test(message) ? message : `${message}.`} See: ${getCommandPath(command)} --help`);
  });
  for (const sub of command.commands) explainMistakes(sub);
}

/** Returns a command's full name: `programme-mcp token create`. */
export function getCommandPath(command: Command): string {
  return command.parent ? `${getCommandPath(command.parent)} ${command.name()}` : command.name();
}
