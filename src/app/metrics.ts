import type { Metrics } from "../telemetry/metrics.ts";
import type { McpEndpoint } from "../transport/http/mcp-endpoint.ts";
import { type MetricsServer, serveMetrics } from "../transport/http/metrics-server.ts";
import type { HttpServer } from "../transport/http/server.ts";
import type { CircuitBreaker } from "../upstream/remote/circuit-breaker.ts";
import type { CoreServices } from "./core-services.ts";

/** What there is to look at; some of it only once something listens. */
export interface MeasuredParts extends Pick<CoreServices, "store" | "clock"> {
  /** Nothing where the product has the queues. */
  readonly queues: boolean;
  readonly circuitBreaker: CircuitBreaker | undefined;
  server(): HttpServer | undefined;
  mcp(): McpEndpoint | undefined;
}

/** Counts what can be seen at any time beside what was counted, and serves all of it. */
export function openMetrics(
  metrics: Metrics,
  address: { readonly host: string; readonly port: number },
  { store, clock, queues, circuitBreaker, server, mcp }: MeasuredParts,
): Promise<MetricsServer> {
  metrics.watchGauges({
    sessions: () => mcp()?.open().sessions ?? 0,
    subscriptions: () => mcp()?.open().subscriptions ?? 0,
    load: async () => (await server()?.load()) ?? { connections: 0, requests: 0 },
    queues: queues ? () => readQueueGauges({ store, clock }) : undefined,
    circuitBreaker: circuitBreaker && (() => circuitBreaker.state()),
  });
  return serveMetrics(address, () => metrics.render());
}

async function readQueueGauges({ store, clock }: Pick<CoreServices, "store" | "clock">) {
  const now = clock.now();
  const queueDepths = Object.entries(await store.queueDepths(now.toISOString()));
  return Object.fromEntries(
    queueDepths.map(([queue, { due, oldestAt }]) => {
      const oldestSeconds = oldestAt === undefined ? 0 : Math.max(0, (now.getTime() - Date.parse(oldestAt)) / 1000);
      return [queue, { due, oldestSeconds }];
    }),
  );
}
