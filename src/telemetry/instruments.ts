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
    toolCalls: createCounter("tool_calls_total", "Tool calls: ok, asked, or refused with an error code", [
      "tool",
      "outcome",
    ]),
    toolSeconds: createSecondsHistogram("tool_call_seconds", "How long tool calls took", ["tool"]),
    mcp: createCounter("mcp_requests_total", "MCP requests that are no tool calls", ["method", "outcome"]),
    mcpSeconds: createSecondsHistogram("mcp_request_seconds", "How long MCP requests that are no tool calls took", [
      "method",
    ]),
    rest: createCounter("rest_requests_total", "REST requests by operation", ["operation", "status"]),
    restSeconds: createSecondsHistogram("rest_request_seconds", "How long REST requests took", ["operation"]),
    http: createCounter("http_requests_total", "HTTP requests by what answered them", ["surface", "status"]),
    rateLimited: createCounter("rate_limit_refusals_total", "Calls refused because their token's rate was used up", [
      "surface",
    ]),
    confirmations: createCounter("confirmations_total", "Questions before calls: asked, accepted, declined", [
      "outcome",
    ]),
    transactionSeconds: createSecondsHistogram("transaction_seconds", "How long transactions took, waiting included", [
      "outcome",
    ]),
    databaseWait: createSecondsHistogram("database_wait_seconds", "How long transactions waited to begin"),
    upstream: createCounter("upstream_requests_total", "Tries of requests to the product's service", [
      "method",
      "outcome",
    ]),
    upstreamSeconds: createSecondsHistogram("upstream_request_seconds", "How long tries of such requests took", [
      "method",
    ]),
    retries: createCounter("upstream_retries_total", "Requests to the product's service that were tried again"),
    paceWait: createSecondsHistogram(
      "upstream_pace_wait_seconds",
      "How long calls waited for their turn with the product's service",
    ),
    deliveries: createCounter("deliveries_total", "Attempts at webhooks, mail and exports", ["of", "outcome"]),
    deliverySeconds: createSecondsHistogram(
      "delivery_seconds",
      "How long attempts at webhooks, mail and exports took",
      ["of"],
    ),
  };
}
