import type { Command } from "commander";
import type { Options } from "../commands/terminal/output.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { deliveryStatuses, eventTypes } from "../contract/webhooks.ts";
import { addExamples } from "./help.ts";
import { createChoiceOption, createSubcommand } from "./options.ts";

const loadCommands = () => import("../commands/webhook.ts");
const endpoint = ["<endpointId>", "its id, as list prints it"] as const;
const loadSettings = (options: Options): Config => loadConfig(process.env, options);

export function addWebhookCommands(webhook: Command): void {
  addEndpointCommands(webhook);
  addDeliveryCommands(webhook);
}

function addEndpointCommands(webhook: Command): void {
  const addSubcommand = (name: string, description: string) => createSubcommand(webhook, name, description, "webhook");
  const add = addSubcommand("add", "register an https address; its signing secret is shown once")
    .argument("<url>", "where events are posted to")
    .addOption(createChoiceOption("--events <types>", "a comma list of event types; all without it", eventTypes))
    .option("--business <id or name>", "the organisation whose events are sent")
    .action(async (url: string, options) => (await loadCommands()).createWebhook(loadSettings(options), url, options));
  const list = addSubcommand("list", "list endpoints, without their secrets")
    .option("--business <id or name>", "of one organisation")
    .action(async (options) => (await loadCommands()).listWebhooks(loadSettings(options), options));
  const remove = addSubcommand("remove", "remove an endpoint")
    .argument(...endpoint)
    .action(async (id: string, options) => (await loadCommands()).removeWebhook(loadSettings(options), id, options));
  const enable = addSubcommand("enable", "send to an endpoint again")
    .argument(...endpoint)
    .action(async (id: string, options) => (await loadCommands()).enableWebhook(loadSettings(options), id, options));
  const disable = addSubcommand("disable", "send nothing more to an endpoint")
    .argument(...endpoint)
    .action(async (id: string, options) => (await loadCommands()).disableWebhook(loadSettings(options), id, options));
  const rotate = addSubcommand("rotate-secret", "make a new signing secret; it is shown once")
    .argument(...endpoint)
    .option("--overlap <span>", "how long the old secret signs too: 24h, 7d, 0h", "24h")
    .action(async (id: string, options) =>
      (await loadCommands()).rotateWebhookSecret(loadSettings(options), id, options),
    );
  addExamples(add, [
    "webhook add https://crm.example.org/hooks --events submission.submitted,payment.failed",
    "hear of two types of events",
  ]);
  const id = "whe_01JB2Q5Y8ZV3K7N4M6P9R0S1T2";
  addExamples(list, ["webhook list --json", "all endpoints and their states, for a program"]);
  addExamples(remove, [`webhook remove ${id}`, "what was on its way is called off"]);
  addExamples(enable, [`webhook enable ${id}`, "events from now on; replay sends what it missed"]);
  addExamples(disable, [`webhook disable ${id}`, "while its receiver is being moved"]);
  addExamples(rotate, ["webhook rotate-secret whe_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --overlap 7d", "a week for the change"]);
}

function addDeliveryCommands(webhook: Command): void {
  const addSubcommand = (name: string, description: string) => createSubcommand(webhook, name, description, "webhook");
  const deliveries = addSubcommand("deliveries", "list deliveries, or the attempts of one")
    .argument("[endpointId or deliveryId]", "all endpoints without one")
    .option("--business <id or name>", "of one organisation")
    .addOption(createChoiceOption("--status <status>", "those that are", deliveryStatuses))
    .option("--limit <number>", "how many, the latest first", "50")
    .action(async (id: string | undefined, options) =>
      (await loadCommands()).listDeliveries(loadSettings(options), id, options),
    );
  const replay = addSubcommand("replay", "send the event of a delivery again, or all that an endpoint has missed")
    .argument("<endpointId or deliveryId>", "as list or deliveries prints it")
    .option("--since <when>", "24h, 7d, a date or a time; at most 30 days are kept")
    .option("--all", "what it has received already, too")
    .action(async (id: string, options) => (await loadCommands()).replayWebhooks(loadSettings(options), id, options));
  const test = addSubcommand("test", "send an invented event at once")
    .argument(...endpoint)
    .addOption(
      createChoiceOption("--event <type>", "its type; the first that the endpoint takes without it", eventTypes),
    )
    .action(async (id: string, options) => (await loadCommands()).testWebhook(loadSettings(options), id, options));
  addExamples(deliveries, ["webhook deliveries --status failed --limit 10", "what did not arrive of late"]);
  addExamples(replay, ["webhook replay whe_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --since 7d", "what it missed in a week"]);
  addExamples(test, ["webhook test whe_01JB2Q5Y8ZV3K7N4M6P9R0S1T2", "see whether the receiver takes events"]);
}
