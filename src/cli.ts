import { Command, CommanderError } from "commander";
import { createApp } from "./app.ts";
import { actCommands, runAct } from "./commands/desk.ts";
import { examine } from "./commands/doctor.ts";
import { createGatewayKey } from "./commands/gateway-key.ts";
import { allowAddress, listSuppressions, retryMessage, suppressAddress } from "./commands/mail.ts";
import { withApp } from "./commands/open.ts";
import { serveHttp, serveStdio } from "./commands/serve.ts";
import { simulate } from "./commands/simulate.ts";
import { formatTable } from "./commands/table.ts";
import { chooseBusiness, issueToken, parseExpiry, parseScopes } from "./commands/tokens.ts";
import { printTools } from "./commands/tools.ts";
import {
  addWebhook,
  disableWebhook,
  enableWebhook,
  listDeliveries,
  listWebhooks,
  removeWebhook,
  replayWebhooks,
  rotateWebhookSecret,
  testWebhook,
} from "./commands/webhook.ts";
import { type Config, loadConfig } from "./config/load.ts";
import { addOptions } from "./config/options.ts";
import type { CommandName } from "./config/setting.ts";
import { UsageError } from "./config/usage-error.ts";
import { seedDemo } from "./demo/seed.ts";
import { version } from "./lib/version.ts";

/** Runs the command line. Results go to stdout, everything else to stderr; a mistake of usage exits with 2. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await program().parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and --version end this way too; what is wrong has one line.
    if (error.exitCode === 0) return 0;
    process.stderr.write(`${error.message.replace(/\s*\n\s*/g, " ")}\n`);
    return 2;
  }
  const [message, exitCode] = error instanceof UsageError ? [error.message, error.exitCode] : [describe(error), 1];
  process.stderr.write(`error: ${message}\n`);
  return exitCode;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function program(): Command {
  const root = new Command("programme-mcp")
    .description("Calls for applications as MCP tools, with an embedded programme service.")
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => undefined });

  command(root, "stdio", "serve MCP over stdin and stdout (what a client starts)", { isDefault: true }).action(
    (options) => serveStdio(loadConfig(process.env, options)),
  );
  command(root, "http", "serve MCP and REST over HTTP").action((options) =>
    serveHttp(loadConfig(process.env, options)),
  );
  addTokenCommands(root);
  addGatewayKeyCommands(root);
  addWebhookCommands(root);
  addMailCommands(root);
  addDeskCommands(root);
  addSimulateCommand(root);
  command(root, "tools", "list the tools with their scopes, effects and what their list costs")
    .option("--json", "print JSON")
    .action((options) => printTools(loadConfig(process.env, options), options.json === true));
  command(root, "doctor", "try the configuration from end to end and say what to fix")
    .option("--json", "print JSON")
    .action((options) => examine(process.env, options));
  command(root, "migrate", "bring the database to this version").action((options) =>
    migrate(loadConfig(process.env, options)),
  );
  command(root, "seed", "fill a database with demonstration data")
    .requiredOption("--demo", "invented programmes, submissions, reviewers and persons of two organisations")
    .option("--seed <number>", "another number makes other data", "1")
    .option("--scale <number>", "how many times the usual volume", "1")
    .action(({ demo: _, ...options }) => seed(loadConfig(process.env, options), options));
  return root;
}

function command(
  parent: Command,
  name: CommandName,
  description: string,
  options: { isDefault?: boolean } = {},
): Command {
  return addOptions(parent.command(name, options).description(description).exitOverride(), name);
}

function addTokenCommands(root: Command): void {
  const token = root.command("token").description("make, list and revoke access tokens").exitOverride();
  addOptions(token.command("create").exitOverride(), "token")
    .description("make a token; it is shown once")
    .option("--name <name>", "what the token is for", "command line")
    .option("--business <id or name>", "the organisation it belongs to")
    .option("--scopes <scopes>", "a comma list, read, or all", "read")
    .option("--expires <when>", "30d, 12h, a date or a time")
    .option("--json", "print JSON")
    .action(createToken);
  addOptions(token.command("list").exitOverride(), "token")
    .description("list tokens, never themselves")
    .option("--json", "print JSON")
    .action(listTokens);
  addOptions(token.command("revoke").exitOverride(), "token")
    .description("revoke a token, at once")
    .argument("<tokenId>")
    .action(revokeToken);
}

function addGatewayKeyCommands(root: Command): void {
  const gatewayKey = root.command("gateway-key").description("make keys for callers of MCP over HTTP").exitOverride();
  gatewayKey
    .command("create")
    .exitOverride()
    .description("make a key for a caller, who then needs no access token; it is shown once")
    .requiredOption("--name <name>", "who the caller is, for the log")
    .option("--scopes <scopes>", "what the caller may use of the access token: a comma list, read, or all", "read")
    .option("--token-variable <name>", "the environment variable with the access token; else PROGRAMME_TOKEN")
    .option("--token-file <file>", "the file with the access token, seen from the file of gateway keys")
    .option("--expires <when>", "30d, 12h, a date or a time")
    .option("--json", "print JSON")
    .action(createGatewayKey);
}

function addWebhookCommands(root: Command): void {
  const webhook = root.command("webhook").description("manage where events are sent").exitOverride();
  const sub = (name: string, description: string) =>
    addOptions(webhook.command(name).exitOverride().description(description), "webhook").option("--json", "print JSON");
  const of = "<endpointId>";
  const configured = (options: Options) => loadConfig(process.env, options);

  sub("add", "register an https address; its signing secret is shown once")
    .argument("<url>")
    .option("--events <types>", "a comma list of event types; all without it")
    .option("--business <id or name>", "the organisation whose events are sent")
    .action((url: string, options) => addWebhook(configured(options), url, options));
  sub("list", "list endpoints, without their secrets")
    .option("--business <id or name>", "of one organisation")
    .action((options) => listWebhooks(configured(options), options));
  sub("remove", "remove an endpoint")
    .argument(of)
    .action((id: string, options) => removeWebhook(configured(options), id, options));
  sub("enable", "send to an endpoint again")
    .argument(of)
    .action((id: string, options) => enableWebhook(configured(options), id, options));
  sub("disable", "send nothing more to an endpoint")
    .argument(of)
    .action((id: string, options) => disableWebhook(configured(options), id, options));
  sub("rotate-secret", "make a new signing secret; it is shown once")
    .argument(of)
    .option("--overlap <span>", "how long the old secret signs too: 24h, 7d, 0h", "24h")
    .action((id: string, options) => rotateWebhookSecret(configured(options), id, options));
  sub("deliveries", "list deliveries, or the attempts of one")
    .argument("[endpointId or deliveryId]")
    .option("--business <id or name>", "of one organisation")
    .option("--status <status>", "pending, leased, delivered, failed or cancelled")
    .option("--limit <number>", "how many, the latest first", "50")
    .action((id: string | undefined, options) => listDeliveries(configured(options), id, options));
  sub("replay", "send the event of a delivery again, or all that an endpoint has missed")
    .argument("<endpointId or deliveryId>")
    .option("--since <when>", "24h, 7d, a date or a time; at most 30 days are kept")
    .option("--all", "what it has received already, too")
    .action((id: string, options) => replayWebhooks(configured(options), id, options));
  sub("test", "send an invented event at once")
    .argument(of)
    .option("--event <type>", "its type; the first that the endpoint takes without it")
    .action((id: string, options) => testWebhook(configured(options), id, options));
}

const ofBusiness = ["--business <id or name>", "the organisation"] as const;

function addMailCommands(root: Command): void {
  const mail = root.command("mail").description("see to the e-mail that is sent").exitOverride();
  const sub = (name: string, description: string) =>
    addOptions(mail.command(name).exitOverride().description(description), "mail")
      .option(...ofBusiness)
      .option("--json", "print JSON");
  const configured = (options: Options) => loadConfig(process.env, options);

  sub("suppress", "send nothing more to an address")
    .argument("<address>")
    .option("--unsubscribed", "because its owner asked for that")
    .option("--bounced", "because there is no such mailbox")
    .action((email: string, options) => suppressAddress(configured(options), email, options));
  sub("allow", "send to a suppressed address again")
    .argument("<address>")
    .action((email: string, options) => allowAddress(configured(options), email, options));
  sub("suppressed", "list the addresses that nothing is sent to").action((options) =>
    listSuppressions(configured(options), options),
  );
  sub("retry", "queue a message again that failed, bounced or was suppressed")
    .argument("<emailSendId>")
    .action((id: string, options) => retryMessage(configured(options), id, options));
}

function addDeskCommands(root: Command): void {
  const desk = root.command("desk").description("act as an applicant, a reviewer or staff").exitOverride();
  for (const { name, act, description, options } of actCommands) {
    const sub = addOptions(desk.command(name).exitOverride().description(description), "desk")
      .option(...ofBusiness)
      .option("--json", "print JSON");
    for (const { flags, description: told, required } of options) {
      if (required) sub.requiredOption(flags, told);
      else sub.option(flags, told);
    }
    sub.action((given: Options) => runAct(loadConfig(process.env, given), act, given));
  }
}

function addSimulateCommand(root: Command): void {
  command(root, "simulate", "play a whole season: applicants, reviewers, decisions, all types of events")
    .option(...ofBusiness)
    .option("--seed <number>", "another number makes other choices", "1")
    .option("--applicants <number>", "at least 16, so that everything happens", "200")
    .option("--reviewers <number>", "at least 4", "40")
    .option("--pace <pace>", "fast, or how many times faster than life: 86400 is a day a second", "fast")
    .option("--json", "print JSON")
    .action((options: Options) => {
      const pace = String(options["pace"]);
      return simulate(loadConfig(process.env, options), {
        business: options["business"] as string | undefined,
        seed: wholeNumber("--seed", options["seed"]),
        applicants: wholeNumber("--applicants", options["applicants"], 16),
        reviewers: wholeNumber("--reviewers", options["reviewers"], 4, 1_000),
        factor: pace === "fast" ? undefined : wholeNumber("--pace", pace, 1, 1_000_000_000),
        json: options["json"] === true,
      });
    });
}

type Options = Readonly<Record<string, string | boolean | undefined>>;

async function createToken({ scopes: wanted, ...options }: Options): Promise<void> {
  // Not the setting of the same name: these are the new token's.
  const scopes = parseScopes(String(wanted));
  const expires = options["expires"];
  const expiresAt = typeof expires === "string" ? parseExpiry(expires, new Date()) : null;
  await withApp(loadConfig(process.env, options), async ({ store }) => {
    const businessId = await chooseBusiness(store, options["business"] as string | undefined);
    const issued = await issueToken(store, {
      businessId,
      name: String(options["name"]).slice(0, 200),
      scopes,
      expiresAt,
    });
    if (options["json"]) return print(`${JSON.stringify(issued)}\n`);
    print(`${issued.token}\n`);
    process.stderr.write(`Token ${issued.tokenId} of ${businessId}. It is not shown again.\n`);
  });
}

async function listTokens(options: Options): Promise<void> {
  await withApp(loadConfig(process.env, options), async ({ store }) => {
    const tokens = (await store.listTokens()).map(({ sha256: _, ...shown }) => shown);
    if (options["json"]) return print(`${JSON.stringify(tokens)}\n`);
    const rows = tokens.map(({ tokenId, businessId, name, prefix, scopes, revokedAt, expiresAt, lastUsedAt }) => [
      tokenId,
      businessId,
      name,
      `${prefix}…`,
      `${scopes.length} scopes`,
      revokedAt ? `revoked ${revokedAt}` : expiresAt ? `expires ${expiresAt}` : "valid",
      lastUsedAt ?? "never used",
    ]);
    print(formatTable([["token", "business", "name", "begins", "scopes", "state", "last used"], ...rows]));
  });
}

async function revokeToken(tokenId: string, options: Options): Promise<void> {
  await withApp(loadConfig(process.env, options), async ({ store }) => {
    const revoked = await store.revokeToken(tokenId, new Date().toISOString());
    if (!revoked) throw new UsageError(`${tokenId} is no token of this database that could be revoked`);
    print(`Revoked ${tokenId}.\n`);
  });
}

async function migrate(config: Config): Promise<void> {
  await (await createApp(config)).close();
  print(`${config.database} is up to date.\n`);
}

async function seed(config: Config, options: Options): Promise<void> {
  const [seedNumber, scale] = [wholeNumber("--seed", options["seed"]), wholeNumber("--scale", options["scale"])];
  const app = await createApp(config);
  try {
    if ((await app.store.listBusinesses()).length > 0)
      throw new UsageError(`${config.database} already holds data; nothing was added`);
    await seedDemo(app.store, app.content, { now: new Date(), seed: seedNumber, scale });
    print(`${config.database} now holds demonstration data.\n`);
  } finally {
    await app.close();
  }
}

function wholeNumber(option: string, text: unknown, min = 1, max = 10_000): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new UsageError(`${option} must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`);
}

function print(text: string): void {
  process.stdout.write(text);
}
