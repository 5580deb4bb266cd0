import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { createTokenLogs } from "../config/webhook-logs.ts";
import { createTextCipher } from "../lib/crypto/envelope-encryption.ts";
import { createChangeFeed } from "../pipeline/change-feed.ts";
import { createConfirmationConsumer } from "../pipeline/confirmation.ts";
import { createProductTokenAdmin } from "../pipeline/users/product-token-admin.ts";
import { createRetention } from "../retention/retention.ts";
import { list_events } from "../service/events.ts";
import { createCircuitBreaker } from "../upstream/remote/circuit-breaker.ts";
import { createHttpClient } from "../upstream/remote/http-client.ts";
import { createRemoteUpstream, getRealm } from "../upstream/remote/remote.ts";
import { divideTimeout } from "../upstream/remote/timeouts.ts";
import { findTokenScopes } from "../upstream/remote/token-scopes.ts";
import { createWebhookEventUpstream } from "../upstream/webhook-event-upstream.ts";
import { workflowRunners } from "../workflows/index.ts";
import type { CoreServices } from "./core-services.ts";
import { getKeptDays } from "./kept-days.ts";
import { instrumentClient } from "./telemetry/instrumented-parts.ts";

/** Creates the upstream of a remote service. Used confirmations are stored locally. */
export function connectRemote(config: Config, baseUrl: string, { store, clock, log, telemetry }: CoreServices) {
  const timeouts = divideTimeout(config.timeoutSeconds);
  const { origin } = new URL(baseUrl);
  const bare = createHttpClient({
    origin,
    ca: config.caFile === undefined ? undefined : readCertificates(config.caFile),
    env: process.env,
    connectTimeoutMs: timeouts.connectMs,
    answerTimeoutMs: timeouts.answerMs,
  });
  const client = instrumentClient(bare, origin, telemetry);
  const circuitBreaker = createCircuitBreaker(clock);
  const upstream = createRemoteUpstream({
    ...config,
    baseUrl,
    client,
    timeouts,
    circuitBreaker,
    clock,
    log,
    telemetry,
    workflows: workflowRunners,
    consumeConfirmations: createConfirmationConsumer(store, clock),
  });
  return { client, upstream, circuitBreaker };
}

/** Creates the upstream of a remote service, with the events that it sends by webhooks. */
export function connectRemoteProduct(config: Config, baseUrl: string, serverKey: () => Buffer, local: CoreServices) {
  const { client, upstream, circuitBreaker } = connectRemote(config, baseUrl, local);
  const { clock } = local;
  const productTokens = createProductTokenAdmin({
    ...local,
    baseUrl,
    encryption: createTextCipher(serverKey, "product-tokens"),
    testToken: (token) => findTokenScopes(upstream, clock, token),
  });
  const retention = createRetention({ ...local, keptDays: getKeptDays(config), files: [] });
  const parts = { productTokens, retention, workers: [retention], circuitBreaker };
  const { origin } = new URL(baseUrl);
  const { byWebhook, byRealm } = createTokenLogs(config, origin, (sha256) => getRealm(origin, sha256));
  if (!config.hasEvents) return { ...parts, upstream, webhooks: byWebhook, close: () => client.close() };
  const receiving = createWebhookEventUpstream(upstream, {
    logOf: (realm) => byRealm.get(realm),
    list: (name, held, input) => list_events({ store: local.store.reader(name), caller: { scopes: held } }, input),
    follow: (identify) => createChangeFeed({ ...local, identify }),
    clock: local.clock,
  });
  const close = async () => {
    await receiving.close();
    await client.close();
  };
  return { ...parts, upstream: receiving, webhooks: byWebhook, close };
}

function readCertificates(file: string): string {
  try {
    const pem = readFileSync(file, "utf8");
    createSecureContext({ ca: pem });
    if (pem.includes("-----BEGIN CERTIFICATE-----")) return pem;
  } catch {}
  throw new UsageError(`PROGRAMME_CA_FILE must be a readable file of PEM certificates; ${file} is not.`);
}
