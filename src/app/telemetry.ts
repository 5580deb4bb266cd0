import type { Log } from "../lib/log.ts";
import { createAccessLines } from "../telemetry/access-lines.ts";
import { type Environment, isTracingConfigured } from "../telemetry/environment.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createTelemetry, type ProgramTelemetry } from "../telemetry/telemetry.ts";
import { toolNames } from "../tools/catalog/definitions.ts";
import { searchTools } from "../tools/catalog/search.ts";

export interface TelemetryParts {
  readonly telemetry: ProgramTelemetry;
  /** Where somebody asks for them. */
  readonly metrics: Metrics | undefined;
}

/** Who watches: the access log always; what else is wanted is loaded only then. */
export async function connectTelemetry(wantsMetrics: boolean, env: Environment, log: Log): Promise<TelemetryParts> {
  const lines = createAccessLines(log);
  const tools = [...toolNames, ...searchTools.map(({ name }) => name)];
  const metrics = wantsMetrics ? (await import("../telemetry/metrics.ts")).createMetrics(tools) : undefined;
  const tracer = isTracingConfigured(env) ? (await import("../telemetry/tracer.ts")).createTracer(env, log) : undefined;
  return { telemetry: createTelemetry({ lines, metrics, tracer }), metrics };
}
