import type { Config } from "../config/load.ts";
import { createBusinessLogs, type WebhookLog } from "../config/webhook-logs.ts";
import { createWebhookHandler } from "../transport/http/webhook-receiver.ts";
import { createReceiver } from "../webhooks/receive.ts";
import type { CoreServices } from "./core-services.ts";

/** Creates the handler of incoming webhooks, if any are configured. */
export async function createWebhookReceiver(
  config: Config,
  beside: ReadonlyMap<string, WebhookLog> | undefined,
  local: CoreServices,
) {
  const { store, ...common } = local;
  const businessIds = (await store.listBusinesses()).map(({ businessId }) => businessId);
  const webhooks = beside ?? createBusinessLogs(config, businessIds);
  const webhookReceiver = createReceiver({ webhooks, inbox: store.inbox, ...common });
  return webhooks.size > 0 ? createWebhookHandler({ ...config, webhookReceiver, log: local.log }) : undefined;
}
