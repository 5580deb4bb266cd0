import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { version } from "../lib/version.ts";

/** Upper bounds in seconds, from reads in memory to clients' timeouts. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Registers every counter and histogram. */
export function createInstruments(registry: Registry) {
  const registers = [registry];
  const createCounter = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter<Label>({ name: `programme_${name}`, help, labelNames, registers });
  const createSecondsHistogram = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Histogram<Label>({ name: `programme_${name}`, help, labelNames, buckets, registers });
  const build = { name: "programme_build_info", help: "Always 1; the version is in the label" };
  new Gauge({ ...build, labelNames: ["version"], registers }).set({ version }, 1);

  return {
    toolCalls: createCounter("tool_calls_total", "Tool calls by outcome: ok, asked, or an error code", [
      "tool",
      "outcome",
    ]),
    toolSeconds: createSecondsHistogram("tool_call_seconds", "Duration of tool calls", ["tool"]),
    mcp: createCounter("mcp_requests_total", "MCP requests other than tool calls", ["method", "outcome"]),
    mcpSeconds: createSecondsHistogram("mcp_request_seconds", "Duration of MCP requests other than tool calls", [
      "method",
    ]),
    rest: createCounter("rest_requests_total", "REST requests by operation", ["operation", "status"]),
    restSeconds: createSecondsHistogram("rest_request_seconds", "Duration of REST requests", ["operation"]),
    http: createCounter("http_requests_total", "HTTP requests by surface and status", ["surface", "status"]),
    rateLimited: createCounter("rate_limit_refusals_total", "Calls refused by the rate limit of their token", [
      "surface",
    ]),
    confirmations: createCounter("confirmations_total", "Confirmations: asked, accepted, declined", ["outcome"]),
    transactionSeconds: createSecondsHistogram("transaction_seconds", "Duration of transactions, including waiting", [
      "outcome",
    ]),
    databaseWait: createSecondsHistogram("database_wait_seconds", "Waiting time of transactions"),
    listReads: createCounter("database_list_reads_total", "Reads of many rows, of a database with read replicas", [
      "server",
    ]),
    upstream: createCounter("upstream_requests_total", "Attempts of requests to the product's service", [
      "method",
      "outcome",
    ]),
    upstreamSeconds: createSecondsHistogram("upstream_request_seconds", "Duration of these attempts", ["method"]),
    retries: createCounter("upstream_retries_total", "Retries of requests to the product's service"),
    throttleWait: createSecondsHistogram(
      "upstream_throttle_wait_seconds",
      "Waiting time of calls for the service's rate limit",
    ),
    deliveries: createCounter("deliveries_total", "Attempts of webhooks, mail and exports", ["of", "outcome"]),
    deliverySeconds: createSecondsHistogram("delivery_seconds", "Duration of attempts of webhooks, mail and exports", [
      "of",
    ]),
  };
}
