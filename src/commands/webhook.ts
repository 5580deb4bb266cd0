import type { App, Webhooks } from "../app/app.ts";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { Problem } from "../contract/errors.ts";
import type { EventType } from "../contract/events.ts";
import {
  type DeliveryError,
  type DeliveryStatus,
  deliveryErrors,
  deliveryStatuses,
  disabledReasons,
  eventTypes,
} from "../contract/webhooks.ts";
import type { ListedDelivery } from "../store/queues/outbox.ts";
import { withApp } from "./open-app.ts";
import { parseDuration, parseTime } from "./terminal/durations.ts";
import { getTextOption, note, type Options, print, printJson } from "./terminal/output.ts";
import { formatColumns } from "./terminal/table.ts";
import { chooseBusiness } from "./tokens/tokens.ts";

type Endpoint = Awaited<ReturnType<Webhooks["endpoints"]["find"]>>;

/** Registers an endpoint and prints its secret once. */
export function createWebhook(config: Config, url: string, options: Options): Promise<void> {
  return withWebhooks(config, async ({ endpoints }, { store }) => {
    const types = getTextOption(options, "events")?.split(",").map(parseEventType) ?? [];
    const businessId = await chooseBusiness(store, getTextOption(options, "business"));
    const added = await endpoints.add(businessId, url, types);
    if (options["json"]) return printJson(added);
    print(`${added.secret}\n`);
    note(`Endpoint ${added.endpointId} of ${businessId}. Its secret is not shown again.`);
  });
}

export function listWebhooks(config: Config, options: Options): Promise<void> {
  return withWebhooks(config, async ({ endpoints }, { store }) => {
    const wanted = getTextOption(options, "business");
    const businesses =
      wanted === undefined ? await store.listBusinesses() : [{ businessId: await chooseBusiness(store, wanted) }];
    const found = (await Promise.all(businesses.map(({ businessId }) => endpoints.list(businessId)))).flat();
    if (options["json"]) return printJson(found);
    const rows = found.map((endpoint) => [
      endpoint.endpointId,
      endpoint.businessId,
      endpoint.url,
      endpoint.eventTypes.length === 0 ? "all" : endpoint.eventTypes.join(","),
      describeState(endpoint),
    ]);
    print(formatColumns([["endpoint", "business", "address", "events", "state"], ...rows], "header"));
  });
}

function describeState({ status, disabledReason, firstFailureAt }: Endpoint): string {
  if (status === "disabled") return `disabled: ${disabledReason === null ? "" : disabledReasons[disabledReason]}`;
  return firstFailureAt === null ? "enabled" : `enabled, failing since ${firstFailureAt}`;
}

export function removeWebhook(config: Config, endpointId: string, options: Options): Promise<void> {
  return withEndpoint(config, endpointId, async ({ endpoints }, endpoint) => {
    await endpoints.remove(endpoint);
    if (options["json"]) return printJson({ endpointId, status: "removed" });
    print(`Removed ${endpointId}. What was on its way to it is called off.\n`);
  });
}

export function enableWebhook(config: Config, endpointId: string, options: Options): Promise<void> {
  return withEndpoint(config, endpointId, async ({ endpoints }, endpoint) => {
    if (endpoint.status === "enabled") throw new UsageError(`${endpointId} is enabled already`);
    await endpoints.enable(endpoint);
    if (options["json"]) return printJson({ endpointId, status: "enabled" });
    print(`Enabled ${endpointId} for events from now on.\n`);
    note(`To send what it missed: programme-mcp webhook replay ${endpointId} --since 7d`);
  });
}

export function disableWebhook(config: Config, endpointId: string, options: Options): Promise<void> {
  return withEndpoint(config, endpointId, async ({ endpoints }, endpoint) => {
    if (endpoint.status === "disabled") throw new UsageError(`${endpointId} is disabled already`);
    await endpoints.disable(endpoint, "manual");
    if (options["json"]) return printJson({ endpointId, status: "disabled" });
    print(`Disabled ${endpointId}. What was on its way to it is called off.\n`);
  });
}

/** Creates a new secret and prints it once. The old one also signs for a while. */
export function rotateWebhookSecret(config: Config, endpointId: string, options: Options): Promise<void> {
  const overlap = getTextOption(options, "overlap") ?? "";
  const overlapMs = parseDuration(overlap);
  if (overlapMs === undefined) throw new UsageError(`--overlap: ${JSON.stringify(overlap)} must be a span: 24h or 7d`);
  return withEndpoint(config, endpointId, async ({ endpoints }, endpoint) => {
    const rotated = await endpoints.rotateSecret(endpoint, overlapMs);
    if (options["json"]) return printJson(rotated);
    print(`${rotated.secret}\n`);
    note(`The new secret of ${endpointId} is not shown again. The old one signs too for ${overlap}.`);
  });
}

/** Lists deliveries, the latest first, or the attempts of one delivery with their responses. */
export function listDeliveries(config: Config, id: string | undefined, options: Options): Promise<void> {
  const [limit, status] = [Number(options["limit"]), parseStatus(getTextOption(options, "status"))];
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
    throw new UsageError("--limit must be a number from 1 to 1000");
  return withWebhooks(config, async ({ endpoints }, { store }) => {
    if (id?.startsWith("dlv_")) return showDelivery(store, await findDelivery(store, id), options["json"] === true);
    const endpoint = id === undefined ? undefined : await endpoints.find(id);
    const businessId = endpoint?.businessId ?? (await chooseBusiness(store, getTextOption(options, "business")));
    const found = await store.outbox.listDeliveries(businessId, { endpointId: endpoint?.endpointId, status }, limit);
    if (options["json"]) return printJson(found);
    const rows = found.map((delivery) => [
      delivery.deliveryId,
      delivery.endpointId,
      delivery.eventType,
      delivery.eventId,
      delivery.status,
      `${delivery.attempt}`,
      describeOutcome(delivery.lastStatusCode, delivery.lastError),
      delivery.status === "pending" ? `due ${delivery.dueAt}` : (delivery.deliveredAt ?? delivery.updatedAt),
    ]);
    print(
      formatColumns(
        [["delivery", "endpoint", "type", "event", "state", "attempts", "last answer", "when"], ...rows],
        "header",
      ),
    );
  });
}

async function showDelivery(store: App["store"], delivery: ListedDelivery, json: boolean): Promise<void> {
  const attempts = await store.outbox.listAttempts(delivery.businessId, delivery.deliveryId);
  if (json) return printJson({ ...delivery, attempts });
  const rows = attempts.map(({ startedAt, durationMs, statusCode, error, answer }) => [
    startedAt,
    `${durationMs} ms`,
    describeOutcome(statusCode, error),
    // Escaped, because a response must not control the terminal.
    JSON.stringify(answer ?? "").slice(0, 100),
  ]);
  print(formatColumns([["attempt", "took", "answer", "begins"], ...rows], "header"));
}

function describeOutcome(statusCode: number | null, error: DeliveryError | null): string {
  if (statusCode !== null) return `${statusCode}`;
  return error === null ? "" : deliveryErrors[error];
}

/** Sends events again: the event of one delivery, or all events that an endpoint has missed since a time. */
export function replayWebhooks(config: Config, id: string, options: Options): Promise<void> {
  return withWebhooks(config, async ({ endpoints, replay }, { store }) => {
    const repeatListing = async () => {
      if (id.startsWith("dlv_")) return replay.delivery((await findDelivery(store, id)).businessId, id);
      const since = parseSince(getTextOption(options, "since"));
      const endpoint = await endpoints.find(id);
      if (endpoint.status === "disabled") throw new UsageError(`${id} is disabled; enable it first`);
      return replay.since(endpoint, since, options["all"] === true);
    };
    const queued = await repeatListing();
    if (options["json"]) return printJson({ queued });
    print(queued === 0 ? "There was nothing to send.\n" : `${queued} will be sent now.\n`);
  });
}

/** Sends a test event at once and prints the result. */
export function testWebhook(config: Config, endpointId: string, options: Options): Promise<void> {
  return withEndpoint(config, endpointId, async ({ probe }, endpoint) => {
    const wanted = getTextOption(options, "event");
    const eventType = wanted === undefined ? (endpoint.eventTypes[0] ?? eventTypes[0]) : parseEventType(wanted);
    const { eventId, statusCode, error, answer, durationMs } = await probe(endpoint, eventType);
    if (options["json"]) printJson({ eventType, eventId, statusCode, error, answer, durationMs });
    else print(`${eventType} ${eventId}: ${describeOutcome(statusCode, error)} after ${durationMs} ms\n`);
    if (error !== null) throw new Error(`${endpointId} did not take the event: ${deliveryErrors[error]}`);
  });
}

async function findDelivery(store: App["store"], deliveryId: string): Promise<ListedDelivery> {
  for (const { businessId } of await store.listBusinesses()) {
    const delivery = await store.outbox.getDelivery(businessId, deliveryId);
    if (delivery) return delivery;
  }
  throw new UsageError(`${deliveryId} is not a delivery of this database`);
}

async function withEndpoint(
  config: Config,
  endpointId: string,
  work: (webhooks: Webhooks, endpoint: Endpoint) => Promise<void>,
): Promise<void> {
  await withWebhooks(config, async (webhooks) => work(webhooks, await webhooks.endpoints.find(endpointId)));
}

async function withWebhooks(config: Config, work: (webhooks: Webhooks, app: App) => Promise<void>): Promise<void> {
  await withApp(config, async (app) => {
    if (!app.webhooks) throw new UsageError("PROGRAMME_BASE_URL is set: the product sends its own webhooks");
    await work(app.webhooks, app).catch((error: unknown) => {
      throw error instanceof Problem ? new UsageError(error.message) : error;
    });
  });
}

function parseEventType(given: string): EventType {
  const type = eventTypes.find((known) => known === given.trim());
  if (type) return type;
  throw new UsageError(`${JSON.stringify(given)} is not an event type: choose from ${eventTypes.join(", ")}`);
}

function parseStatus(given: string | undefined): DeliveryStatus | undefined {
  const status = deliveryStatuses.find((known) => known === given);
  if (status || given === undefined) return status;
  throw new UsageError(`--status: ${JSON.stringify(given)} must be one of ${deliveryStatuses.join(", ")}`);
}

function parseSince(given: string | undefined): string {
  const spanMs = parseDuration(given ?? "");
  const timeMs = spanMs === undefined ? parseTime(given ?? "") : Date.now() - spanMs;
  if (timeMs !== undefined) return new Date(timeMs).toISOString();
  throw new UsageError(`--since is needed for an endpoint: 24h, 7d, a date or an RFC 3339 time`);
}
