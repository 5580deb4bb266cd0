import { Gauge, type Registry } from "prom-client";
import { waitAtMost } from "../lib/timeout.ts";

/** The due items of a queue, and the age of the oldest. */
export interface QueueGauge {
  readonly due: number;
  readonly oldestSeconds: number;
}

/** The measured values, read on each scrape. */
export interface Gauges {
  sessions(): number;
  subscriptions(): number;
  /** Returns the open HTTP connections and the requests in flight. */
  load(): Promise<{ readonly connections: number; readonly requests: number }>;
  readonly queues?: (() => Promise<Readonly<Record<string, QueueGauge>>>) | undefined;
  readonly circuitBreaker?: (() => (typeof circuitBreakerStates)[number]) | undefined;
}

const circuitBreakerStates = ["closed", "open", "half_open"] as const;

/** A database that does not answer must not delay the other values. */
const queuesTimeoutMs = 2_000;

/** Registers the gauges. Returns a function that reads all sources and sets the gauges. */
export function createGauges(registry: Registry, watched: Gauges): () => Promise<void> {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `programme_${name}`, help, labelNames, registers: [registry] });
  const sessions = gauge("sessions", "Sessions of 2025-era MCP clients that listen for changes");
  const subscriptions = gauge("subscriptions", "Streams on which MCP clients listen for changes");
  const connections = gauge("http_connections", "HTTP connections that are open");
  const requests = gauge("http_requests_in_flight", "HTTP requests being worked on");
  const depth = watched.queues && gauge("queue_depth", "Work of a queue that is due", ["queue"]);
  const oldest = watched.queues && gauge("queue_oldest_seconds", "How long the oldest of it has been due", ["queue"]);
  const circuitBreaker =
    watched.circuitBreaker && gauge("upstream_breaker", "1 for the state that the breaker is in", ["state"]);

  async function refreshQueues(): Promise<void> {
    depth?.reset();
    oldest?.reset();
    const queueDepths = watched.queues && (await waitAtMost(queuesTimeoutMs, watched.queues()).catch(() => undefined));
    for (const [queue, { due, oldestSeconds }] of Object.entries(queueDepths ?? {})) {
      depth?.set({ queue }, due);
      oldest?.set({ queue }, oldestSeconds);
    }
  }

  return async () => {
    sessions.set(watched.sessions());
    subscriptions.set(watched.subscriptions());
    const load = await watched.load();
    requests.set(load.requests);
    connections.set(load.connections);
    const state = watched.circuitBreaker?.();
    for (const each of circuitBreakerStates) circuitBreaker?.set({ state: each }, each === state ? 1 : 0);
    await refreshQueues();
  };
}
