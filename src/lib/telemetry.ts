import type { IncomingMessage, ServerResponse } from "node:http";

/** Headers that may continue a trace: `traceparent`, `tracestate` and `baggage` (W3C Trace Context). */
export type TraceHeaders = Readonly<Record<string, unknown>>;

/** The facts about every MCP request: its id, its caller's opaque name, and its trace. */
interface Asked {
  readonly requestId: string;
  readonly caller?: string | undefined;
  readonly trace?: TraceHeaders | undefined;
  /** `pipe` over stdio, `tcp` over HTTP. */
  readonly transport: "pipe" | "tcp";
}

export interface ToolCall extends Asked {
  readonly kind: "tool";
  readonly name: string;
}

/** An MCP request other than a tool call. */
export interface McpRequest extends Asked {
  readonly kind: "mcp";
  readonly method: string;
  /** The name of a requested prompt. */
  readonly prompt?: string | undefined;
}

/** An operation of the embedded service. */
export interface OperationCall {
  readonly kind: "operation";
  readonly name: string;
  readonly surface: "mcp" | "rest";
  readonly requestId: string;
}

export interface ObservedTransaction {
  readonly kind: "transaction";
  readonly system: "sqlite" | "postgresql";
}

/** An attempt of a request to the product's own service. */
export interface UpstreamRequest {
  readonly kind: "upstream";
  readonly method: string;
  readonly origin: string;
}

/** Background work: an attempt of a webhook delivery, a message, an export. */
export interface Delivery {
  readonly kind: "delivery";
  readonly of: "webhook" | "mail" | "export";
}

export type ObservedWork = ToolCall | McpRequest | OperationCall | ObservedTransaction | UpstreamRequest | Delivery;

/** The result of work. */
export interface WorkOutcome {
  /** `ok`, or the code of the problem. */
  readonly code: string;
  /** The HTTP status. */
  readonly status?: number | undefined;
  /** The id of the caller's token. */
  readonly caller?: string | undefined;
}

/** An HTTP request and the surface that answers it. */
export interface HttpExchange {
  readonly surface: Surface;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
}

export const surfaces = ["rest", "mcp", "webhook", "download", "invitation", "probe", "other"] as const;
export type Surface = (typeof surfaces)[number];

/** Events that are counted or measured. */
export interface TelemetryNotes {
  readonly confirmation: "asked" | "accepted" | "declined";
  /** A request to the product's own service was retried. */
  readonly retry: "retry";
  /** Milliseconds that a call waited for its slot with the product's own service. */
  readonly throttleWait: number;
  /** Milliseconds that a transaction waited to begin. */
  readonly databaseWait: number;
  /** The server from which many rows are read, of a database with read replicas. */
  readonly listRead: "primary" | "replica";
}

/** Observes work for the access log, metrics and traces, without changing its result. */
export interface Telemetry {
  /**
   * Runs work and records its outcome: the one that `outcomeOf` returns, or the error, which is rethrown. Work that is
   * observed inside `run` becomes its child.
   */
  watch<R>(work: ObservedWork, run: () => Promise<R>, outcomeOf: (result: R) => WorkOutcome): Promise<R>;
  /** Calls `serve` at once, and records the outcome when the exchange has ended. */
  exchange(exchange: HttpExchange, serve: () => void): void;
  note<K extends keyof TelemetryNotes>(kind: K, value: TelemetryNotes[K]): void;
  /** Returns the headers that pass the trace on in an outgoing request. Undefined outside of a trace. */
  traceHeaders(): Readonly<Record<string, string>> | undefined;
}

/** Telemetry that records nothing. */
export const unwatched: Telemetry = {
  watch: (_work, run) => run(),
  exchange: (_exchange, serve) => serve(),
  note: () => undefined,
  traceHeaders: () => undefined,
};

export const succeeded: WorkOutcome = { code: "ok" };
