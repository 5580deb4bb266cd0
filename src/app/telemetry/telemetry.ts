import type { Log } from "../../lib/log.ts";
import { type Environment, isTracingConfigured } from "../../telemetry/environment.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { createRequestLog } from "../../telemetry/request-log.ts";
import { createTelemetry, type ProgramTelemetry } from "../../telemetry/telemetry.ts";
import { toolNames } from "../../tools/catalog/definitions.ts";
import { searchTools } from "../../tools/catalog/search.ts";

export interface TelemetryParts {
  readonly telemetry: ProgramTelemetry;
  /** Set if metrics are configured. */
  readonly metrics: Metrics | undefined;
}

/** Creates the request log, and loads metrics and traces if they are configured. */
export async function connectTelemetry(wantsMetrics: boolean, env: Environment, log: Log): Promise<TelemetryParts> {
  const requestLog = createRequestLog(log);
  const tools = [...toolNames, ...searchTools.map(({ name }) => name)];
  const metrics = wantsMetrics ? (await import("../../telemetry/metrics.ts")).createMetrics(tools) : undefined;
  const tracer = isTracingConfigured(env)
    ? (await import("../../telemetry/tracer.ts")).createTracer(env, log)
    : undefined;
  return { telemetry: createTelemetry({ requestLog, metrics, tracer }), metrics };
}
