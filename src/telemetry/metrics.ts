import { collectDefaultMetrics, Registry } from "prom-client";
import { errorCatalog } from "../contract/errors.ts";
import { operationNames } from "../contract/index.ts";
import type { HttpExchange, ObservedWork, TelemetryNotes, WorkOutcome } from "../lib/telemetry.ts";
import { createGauges, type Gauges } from "./gauges.ts";
import { createInstruments } from "./instruments.ts";

export interface Metrics {
  work(work: ObservedWork, outcome: WorkOutcome, durationMs: number): void;
  exchange(exchange: HttpExchange, status: number): void;
  note<K extends keyof TelemetryNotes>(kind: K, value: TelemetryNotes[K]): void;
  /** Registers the gauges. Must be called once. */
  watchGauges(gauges: Gauges): void;
  /** Renders all metrics in the text format of Prometheus. */
  render(): Promise<{ readonly contentType: string; readonly text: string }>;
}

const mcpMethods = [
  "initialize",
  "ping",
  "server/discover",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "prompts/list",
  "prompts/get",
  "skills/list",
  "skills/get",
  "completion/complete",
];

/** Outcomes besides the error codes. */
const ownOutcomes = ["ok", "asked", "cancelled", "refused", "failed", "deferred", "uncertain", "stopped"];

/** @param tools - the names of all tools; other names do not become labels */
export function createMetrics(tools: readonly string[]): Metrics {
  const registry = new Registry();
  const to = createInstruments(registry);
  collectDefaultMetrics({ register: registry });
  let refresh = async (): Promise<void> => undefined;
  // Only known names become labels, because each label costs memory and callers can invent names.
  const toolOf = limitNames(tools);
  const methodOf = limitNames(mcpMethods);
  const operationOf = limitNames(operationNames);
  const outcomeOf = limitNames([...ownOutcomes, ...Object.keys(errorCatalog)]);

  return {
    work(work, { code, status = 500 }, durationMs) {
      const outcome = outcomeOf(code);
      const durationSeconds = durationMs / 1000;
      const surface = work.kind === "operation" ? work.surface : "mcp";
      switch (work.kind) {
        case "tool":
          to.toolCalls.inc({ tool: toolOf(work.name), outcome });
          to.toolSeconds.observe({ tool: toolOf(work.name) }, durationSeconds);
          break;
        case "mcp":
          to.mcp.inc({ method: methodOf(work.method), outcome });
          to.mcpSeconds.observe({ method: methodOf(work.method) }, durationSeconds);
          break;
        case "operation":
          // Calls from tools are counted as tool calls.
          if (surface === "mcp") return;
          to.rest.inc({ operation: operationOf(work.name), status });
          to.restSeconds.observe({ operation: operationOf(work.name) }, durationSeconds);
          break;
        case "transaction":
          to.transactionSeconds.observe({ outcome: code === "ok" ? "committed" : "rolled_back" }, durationSeconds);
          return;
        case "upstream":
          to.upstream.inc({ method: work.method, outcome });
          to.upstreamSeconds.observe({ method: work.method }, durationSeconds);
          return;
        case "delivery":
          to.deliveries.inc({ of: work.of, outcome });
          to.deliverySeconds.observe({ of: work.of }, durationSeconds);
          return;
      }
      if (code === "rate_limited") to.rateLimited.inc({ surface });
    },

    exchange: ({ surface }, status) => to.http.inc({ surface, status }),

    note(kind, value) {
      if (kind === "confirmation") to.confirmations.inc({ outcome: String(value) });
      else if (kind === "listRead") to.listReads.inc({ server: String(value) });
      else if (kind === "retry") to.retries.inc();
      else (kind === "throttleWait" ? to.throttleWait : to.databaseWait).observe(Number(value) / 1000);
    },

    watchGauges(gauges) {
      refresh = createGauges(registry, gauges);
    },

    async render() {
      await refresh();
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function limitNames(names: readonly string[]): (name: string) => string {
  const known = new Set(names);
  return (name) => (known.has(name) ? name : "other");
}
