export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns whether the standard variables of OpenTelemetry configure a receiver of traces. */
export function isTracingConfigured(env: Environment): boolean {
  if (env["OTEL_SDK_DISABLED"]?.trim().toLowerCase() === "true") return false;
  if ((env["OTEL_TRACES_EXPORTER"] || "otlp").trim() !== "otlp") return false;
  return Boolean(env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || env["OTEL_EXPORTER_OTLP_ENDPOINT"]);
}

/** Returns why the configured protocol is not supported. Only OTLP over HTTP with JSON is. */
export function findUnsupportedProtocol(env: Environment): string | undefined {
  const protocol = env["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] || env["OTEL_EXPORTER_OTLP_PROTOCOL"];
  return protocol === "grpc" ? "Traces are sent as http/json, not as OTEL_EXPORTER_OTLP_PROTOCOL=grpc" : undefined;
}

export interface Sampling {
  /** The caller's own sampling decision has priority. */
  readonly parentBased: boolean;
  /** Share of the other traces, from 0 to 1. */
  readonly ratio: number;
}

/** Reads `OTEL_TRACES_SAMPLER` and its argument. Unknown values sample all traces, as the standard requires. */
export function readSampling(env: Environment): Sampling {
  const name = (env["OTEL_TRACES_SAMPLER"] || "parentbased_always_on").trim().toLowerCase();
  const given = Number(env["OTEL_TRACES_SAMPLER_ARG"] || 1);
  const ratios: Readonly<Record<string, number>> = {
    always_on: 1,
    always_off: 0,
    traceidratio: given >= 0 && given <= 1 ? given : 1,
  };
  const parentBased = name.startsWith("parentbased_");
  const ratio = ratios[name.replace(/^parentbased_/, "")];
  return ratio === undefined ? { parentBased: true, ratio: 1 } : { parentBased, ratio };
}

/** Reads the `OTEL_BSP_*` variables for batches of spans, with the standard's defaults. */
export function readBatching(env: Environment) {
  const readNumber = (name: string, otherwise: number) => {
    const given = Number(env[name] || otherwise);
    return Number.isSafeInteger(given) && given > 0 ? given : otherwise;
  };
  return {
    scheduledDelayMillis: readNumber("OTEL_BSP_SCHEDULE_DELAY", 5_000),
    exportTimeoutMillis: readNumber("OTEL_BSP_EXPORT_TIMEOUT", 30_000),
    maxQueueSize: readNumber("OTEL_BSP_MAX_QUEUE_SIZE", 2_048),
    maxExportBatchSize: readNumber("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512),
  };
}
