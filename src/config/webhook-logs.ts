import { hashSha256Hex } from "../lib/crypto/crypto.ts";
import { UsageError } from "./usage-error.ts";

/** The event log of a webhook, and its signing secrets, the newest first. */
export interface WebhookLog {
  readonly log: string;
  readonly secrets: readonly string[];
}

interface WebhookValues {
  readonly token: string | undefined;
  readonly webhookSecrets: ReadonlyMap<string, readonly string[]> | undefined;
  readonly webhookReaders: ReadonlyMap<string, readonly string[]> | undefined;
}

export interface WebhookLogs {
  /** Logs by the webhook's name. */
  readonly byWebhook: ReadonlyMap<string, WebhookLog>;
  /** Logs by the realm whose tokens read them. */
  readonly byRealm: ReadonlyMap<string, { readonly log: string; readonly webhooks: readonly string[] }>;
}

/**
 * Returns the logs of webhooks from a remote service. Each webhook has a log that its readers share. Without readers,
 * all webhooks share the log of the configured token; another token begins another log.
 */
export function createTokenLogs(
  { token, webhookSecrets = new Map(), webhookReaders }: WebhookValues,
  origin: string,
  realmOf: (sha256: string) => string,
): WebhookLogs {
  const own = token === undefined ? undefined : realmOf(hashSha256Hex(token));
  const createLog = (name: string) => (webhookReaders ? `${origin} #${name}` : (own as string));
  const byWebhook = new Map([...webhookSecrets].map(([name, secrets]) => [name, { log: createLog(name), secrets }]));
  const readers = [...(webhookReaders ?? [])].flatMap(([name, hashes]) =>
    hashes.map((sha256) => [realmOf(sha256.toLowerCase()), { log: createLog(name), webhooks: [name] }] as const),
  );
  if (webhookReaders) return { byWebhook, byRealm: new Map(readers) };
  const webhooks = [...webhookSecrets.keys()];
  return { byWebhook, byRealm: new Map(own === undefined ? [] : [[own, { log: own, webhooks }]]) };
}

/**
 * Returns the logs of webhooks in the embedded service, each of one organisation.
 * @throws UsageError if the organisation is ambiguous or does not exist
 */
export function createBusinessLogs(
  { webhookSecrets = new Map(), webhookReaders }: WebhookValues,
  businessIds: readonly string[],
): ReadonlyMap<string, WebhookLog> {
  const [only, ...others] = businessIds;
  return new Map(
    [...webhookSecrets].map(([name, secrets]) => {
      const log = webhookReaders?.get(name)?.[0] ?? (others.length === 0 ? only : undefined);
      if (log !== undefined && businessIds.includes(log)) return [name, { log, secrets }];
      const known = businessIds.length === 0 ? "the database holds none yet" : `one of ${businessIds.join(", ")}`;
      throw new UsageError(`PROGRAMME_WEBHOOK_READERS must name the reader of the events of ${name}: ${known}.`);
    }),
  );
}
