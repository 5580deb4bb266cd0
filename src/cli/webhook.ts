import type { Command } from "commander";
import type { Options } from "../commands/terminal/output.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { deliveryStatuses, eventTypes } from "../contract/webhooks.ts";
import { addExamples } from "./help.ts";
import { createChoiceOption, createSubcommand } from "./options.ts";

const loadCommands = () => import("../commands/webhook.ts");
const endpoint = ["<endpointId>", "the id that list prints"] as const;
const loadSettings = (options: Options): Config => loadConfig(process.env, options);

export function addWebhookCommands(webhook: Command): void {
  addEndpointCommands(webhook);
  addDeliveryCommands(webhook);
}

function addEndpointCommands(webhook: Command): void {
  const addSubcommand = (name: string, description: string) => createSubcommand(webhook, name, description, "webhook");
  const add = addSubcommand("add", "register an https address; its signing secret is shown once")
    .argument("<url>", "the address that events are posted to")
    .addOption(
      createChoiceOption("--events <types>", "a comma-separated list of event types; default: all", eventTypes),
    )
    .option("--business <id or name>", "the organisation whose events are sent")
    .action(async (url: string, options) => (await loadCommands()).createWebhook(loadSettings(options), url, options));
  const list = addSubcommand("list", "list endpoints, without their secrets")
    .option("--business <id or name>", "only endpoints of this organisation")
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
  const rotate = addSubcommand("rotate-secret", "create a new signing secret; it is shown once")
    .argument(...endpoint)
    .option("--overlap <span>", "how long the old secret also signs: 24h, 7d, 0h", "24h")
    .action(async (id: string, options) =>
      (await loadCommands()).rotateWebhookSecret(loadSettings(options), id, options),
    );
  addExamples(add, [
    "webhook add https://crm.example.org/hooks --events submission.submitted,payment.failed",
    "send two types of events",
  ]);
  const id = "whe_01JB2Q5Y8ZV3K7N4M6P9R0S1T2";
  addExamples(list, ["webhook list --json", "print all endpoints and their states as JSON"]);
  addExamples(remove, [`webhook remove ${id}`, "also cancels its pending deliveries"]);
  addExamples(enable, [`webhook enable ${id}`, "send events from now on; replay sends those that it missed"]);
  addExamples(disable, [`webhook disable ${id}`, "pause deliveries while its receiver moves"]);
  addExamples(rotate, [
    "webhook rotate-secret whe_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --overlap 7d",
    "sign with both secrets for a week",
  ]);
}

function addDeliveryCommands(webhook: Command): void {
  const addSubcommand = (name: string, description: string) => createSubcommand(webhook, name, description, "webhook");
  const deliveries = addSubcommand("deliveries", "list deliveries, or the attempts of one")
    .argument("[endpointId or deliveryId]", "an endpoint or a delivery; default: all endpoints")
    .option("--business <id or name>", "only endpoints of this organisation")
    .addOption(createChoiceOption("--status <status>", "only deliveries with this status", deliveryStatuses))
    .option("--limit <number>", "the largest number to list, the latest first", "50")
    .action(async (id: string | undefined, options) =>
      (await loadCommands()).listDeliveries(loadSettings(options), id, options),
    );
  const replay = addSubcommand("replay", "send the event of a delivery again, or all events that an endpoint missed")
    .argument("<endpointId or deliveryId>", "the id that list or deliveries prints")
    .option("--since <when>", "24h, 7d, a date or a time within the last 30 days")
    .option("--all", "also send events that it has received already")
    .action(async (id: string, options) => (await loadCommands()).replayWebhooks(loadSettings(options), id, options));
  const test = addSubcommand("test", "send a test event at once")
    .argument(...endpoint)
    .addOption(
      createChoiceOption(
        "--event <type>",
        "the type of the event; default: the first type that the endpoint accepts",
        eventTypes,
      ),
    )
    .action(async (id: string, options) => (await loadCommands()).testWebhook(loadSettings(options), id, options));
  addExamples(deliveries, ["webhook deliveries --status failed --limit 10", "list the latest failures"]);
  addExamples(replay, [
    "webhook replay whe_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --since 7d",
    "send the events that it missed in a week",
  ]);
  addExamples(test, ["webhook test whe_01JB2Q5Y8ZV3K7N4M6P9R0S1T2", "test whether the receiver accepts events"]);
}
