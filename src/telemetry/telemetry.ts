import { Problem } from "../contract/errors.ts";
import type { HttpExchange, ObservedWork, Telemetry, TelemetryNotes, WorkOutcome } from "../lib/telemetry.ts";
import { waitAtMost } from "../lib/timeout.ts";
import type { Metrics } from "./metrics.ts";
import type { RequestLog } from "./request-log.ts";
import type { Span, Tracer } from "./tracer.ts";

export interface TelemetryDeps {
  readonly requestLog: RequestLog;
  readonly metrics?: Metrics | undefined;
  readonly tracer?: Tracer | undefined;
}

export interface ProgramTelemetry extends Telemetry {
  /** Resolves when no call is in flight, or after `maxMs`. */
  idle(maxMs: number): Promise<void>;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

/** Combines the request log with the metrics and traces that are configured. */
export function createTelemetry({ requestLog, metrics, tracer }: TelemetryDeps): ProgramTelemetry {
  const calls = createCount();

  function recordEnd(work: ObservedWork, outcome: WorkOutcome, startedMs: number, span: Span | undefined): void {
    const durationMs = performance.now() - startedMs;
    requestLog.logWork(work, outcome, durationMs);
    metrics?.work(work, outcome, durationMs);
    span?.end(outcome);
  }

  async function observeWork<R>(
    work: ObservedWork,
    run: () => Promise<R>,
    outcomeOf: (result: R) => WorkOutcome,
  ): Promise<R> {
    const startedMs = performance.now();
    const isCall = work.kind === "tool" || work.kind === "mcp";
    if (isCall) calls.up();
    const span = tracer?.start(work);
    try {
      const result = await (span ? span.run(run) : run());
      recordEnd(work, outcomeOf(result), startedMs, span);
      return result;
    } catch (error) {
      recordEnd(work, { code: getErrorCode(error) }, startedMs, span);
      throw error;
    } finally {
      if (isCall) calls.down();
    }
  }

  return {
    watch(work, run, outcomeOf) {
      const isObserved = metrics || tracer || work.kind !== "upstream" || requestLog.logsUpstreamRequests();
      return isObserved ? observeWork(work, run, outcomeOf) : run();
    },

    exchange(exchange: HttpExchange, serve: () => void): void {
      const startedMs = performance.now();
      const span = tracer?.startExchange(exchange);
      requestLog.beginExchange(exchange);
      exchange.response.on("close", () => {
        const { statusCode: status, writableFinished } = exchange.response;
        const durationMs = performance.now() - startedMs;
        requestLog.logExchange(exchange, status, durationMs);
        metrics?.exchange(exchange, status);
        span?.end({ code: writableFinished ? "ok" : "aborted", status });
      });
      if (span) span.run(serve);
      else serve();
    },

    note<K extends keyof TelemetryNotes>(kind: K, value: TelemetryNotes[K]): void {
      metrics?.note(kind, value);
    },

    traceHeaders: () => tracer?.headers(),

    idle: calls.zero,

    async close() {
      await tracer?.close();
    },
  };
}

/** Counts the calls in flight. */
function createCount() {
  let count = 0;
  const waiting = new Set<() => void>();
  return {
    up(): void {
      count += 1;
    },
    down(): void {
      count -= 1;
      if (count === 0) for (const resolve of waiting) resolve();
    },
    /** Resolves when the count is 0, or after `maxMs`. */
    async zero(maxMs: number): Promise<void> {
      if (count === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      await waitAtMost(maxMs, promise);
    },
  };
}

/** Returns the code of a problem or protocol error, and `internal_error` for anything else. */
function getErrorCode(error: unknown): string {
  if (error instanceof Problem) return error.code;
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown };
  if (name === "AbortError") return "cancelled";
  return Number.isSafeInteger(code) ? String(code) : "internal_error";
}
