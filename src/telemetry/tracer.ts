import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  DiagLogLevel,
  defaultTextMapSetter,
  diag,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from "@opentelemetry/api";
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Log } from "../lib/log.ts";
import type { HttpExchange, ObservedWork, TraceHeaders, WorkOutcome } from "../lib/telemetry.ts";
import { waitAtMost } from "../lib/timeout.ts";
import { version } from "../lib/version.ts";
import { type Environment, findUnsupportedProtocol, readBatching, readSampling } from "./environment.ts";
import { describeExchange, describeSpan, describeSpanEnd, getRoute } from "./spans.ts";

/** A span of a trace. */
export interface Span {
  /** Runs work within the span. Observed work inside it becomes a child. */
  run<R>(work: () => R): R;
  end(outcome: WorkOutcome): void;
}

export interface Tracer {
  /** Starts a span. Returns undefined for work that is traced only as a part of other work. */
  start(work: ObservedWork): Span | undefined;
  startExchange(exchange: HttpExchange): Span | undefined;
  headers(): Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Time to send the remaining spans when the process ends. */
const closeTimeoutMs = 3_000;
/** Baggage and trace state are the callers' own texts. */
const maxCarriedChars = 8_192;

/** Creates a tracer that exports to the receiver of the standard OpenTelemetry variables, over OTLP/HTTP. */
export function createTracer(env: Environment, log: Log): Tracer {
  const problem = findUnsupportedProtocol(env);
  if (problem !== undefined) log.warn(problem);
  forwardDiagnostics(log);
  const provider = createProvider(env);
  const tracer = provider.getTracer("programme-mcp", version);
  const storage = new AsyncLocalStorage<Context>();
  const traceContext = new W3CTraceContextPropagator();
  const incoming = new CompositePropagator({ propagators: [traceContext, new W3CBaggagePropagator()] });

  function createSpan(context: Context, span: OtelSpan, ofCall: boolean): Span {
    const inside = trace.setSpan(context, span);
    return {
      run: (work) => storage.run(inside, work),
      end(outcome) {
        const { attributes, failed } = describeSpanEnd(outcome, ofCall);
        span.setAttributes(attributes);
        if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  function start(work: ObservedWork): Span | undefined {
    const around = storage.getStore() ?? ROOT_CONTEXT;
    const ambient = trace.getSpan(around);
    if (work.kind === "transaction" && !ambient) return undefined;
    const route = getRoute(work);
    if (route !== undefined) ambient?.setAttribute("http.route", route.path).updateName(route.name);
    const carried = "trace" in work && work.trace ? incoming.extract(around, work.trace, getter) : around;
    const parent = trace.getSpanContext(carried);
    // The caller's own span is the parent. The HTTP request that carried the call is linked.
    const links = ambient && parent !== ambient.spanContext() ? [{ context: ambient.spanContext() }] : [];
    const { name, ...options } = describeSpan(work);
    return createSpan(carried, tracer.startSpan(name, { ...options, links }, carried), work.kind === "tool");
  }

  return {
    start,
    startExchange(exchange) {
      // Probes arrive every few seconds and are not of interest.
      if (exchange.surface === "probe") return undefined;
      const carried = incoming.extract(ROOT_CONTEXT, exchange.request.headers, getter);
      const { name, ...options } = describeExchange(exchange);
      return createSpan(carried, tracer.startSpan(name, options, carried), false);
    },
    headers() {
      const headers: Record<string, string> = {};
      // Without the baggage, which the caller sent to this program only.
      traceContext.inject(storage.getStore() ?? ROOT_CONTEXT, headers, defaultTextMapSetter);
      return headers;
    },
    async close() {
      await waitAtMost(
        closeTimeoutMs,
        provider.shutdown().catch(() => undefined),
      );
    },
  };
}

function createProvider(env: Environment): TracerProvider {
  const { parentBased, ratio } = readSampling(env);
  const own = ratio === 1 ? new AlwaysOnSampler() : new TraceIdRatioBasedSampler(ratio);
  const named = resourceFromAttributes({ "service.name": "programme-mcp", "service.version": version });
  return new TracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: parentBased ? new ParentBasedSampler({ root: own }) : own,
    spanLimits: { attributeValueLengthLimit: 256, attributeCountLimit: 32, linkCountLimit: 4 },
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), ...readBatching(env) })],
  });
}

/** Forwards the exporter's diagnostics to the log. It repeats itself while a receiver is down. */
function forwardDiagnostics(log: Log): void {
  const createReporter =
    (level: "warn" | "debug") =>
    (message: string, ...rest: unknown[]) =>
      log[level]({ details: rest.map(String) }, `Traces: ${message}`);
  const [warn, debug] = [createReporter("warn"), createReporter("debug")];
  const logger = { error: warn, warn, info: debug, debug, verbose: debug };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

const getter: TextMapGetter<TraceHeaders> = {
  keys: (carrier) => Object.keys(carrier),
  get(carrier, name) {
    const value = carrier[name];
    return typeof value === "string" && value.length <= maxCarriedChars ? value : undefined;
  },
};
