import type { Config } from "../../config/load.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { MetricsServer } from "../../transport/http/metrics-server.ts";
import type { CircuitBreaker } from "../../upstream/remote/circuit-breaker.ts";
import type { CoreServices } from "../core-services.ts";
import type { HttpServers } from "../http-servers.ts";

/** The sources of the gauges. */
interface MeasuredParts extends Pick<CoreServices, "store" | "clock"> {
  /** False if the queues belong to a remote service. */
  readonly hasQueues: boolean;
  readonly circuitBreaker: CircuitBreaker | undefined;
  readonly servers: Pick<HttpServers, "http" | "mcp">;
}

/** Serves the metrics on an address of their own. */
export interface MetricsEndpoint {
  /** Begins to serve and returns the URL, or undefined if metrics are not configured. */
  open(): Promise<string | undefined>;
  close(): Promise<void>;
}

export function createMetricsEndpoint(
  address: Config["metrics"],
  metrics: Metrics | undefined,
  { store, clock, hasQueues, circuitBreaker, servers }: MeasuredParts,
): MetricsEndpoint {
  let server: MetricsServer | undefined;
  return {
    async open() {
      if (!metrics || !address) return undefined;
      metrics.watchGauges({
        sessions: () => servers.mcp?.open().sessions ?? 0,
        subscriptions: () => servers.mcp?.open().subscriptions ?? 0,
        load: async () => (await servers.http?.load()) ?? { connections: 0, requests: 0 },
        queues: hasQueues ? () => readQueueGauges({ store, clock }) : undefined,
        circuitBreaker: circuitBreaker && (() => circuitBreaker.state()),
      });
      const { serveMetrics } = await import("../../transport/http/metrics-server.ts");
      server = await serveMetrics(address, () => metrics.render());
      return server.url;
    },
    async close() {
      await server?.close();
    },
  };
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
