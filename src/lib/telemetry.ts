import type { IncomingMessage, ServerResponse } from "node:http";

/** Where a trace goes on from: `traceparent`, `tracestate` and `baggage` (W3C Trace Context), among other things. */
export type TraceHeaders = Readonly<Record<string, unknown>>;

/** What an MCP request is known by: its id, its caller by an opaque name, and what it goes on from. */
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

/** Any MCP request but a tool call. */
export interface McpRequest extends Asked {
  readonly kind: "mcp";
  readonly method: string;
  /** The prompt, where it is one that is got. */
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

/** A try of a request to the product's own service. */
export interface UpstreamRequest {
  readonly kind: "upstream";
  readonly method: string;
  readonly origin: string;
}

/** Something that is taken away after the answer: an attempt at a webhook, a message, an export. */
export interface Delivery {
  readonly kind: "delivery";
  readonly of: "webhook" | "mail" | "export";
}

export type ObservedWork = ToolCall | McpRequest | OperationCall | ObservedTransaction | UpstreamRequest | Delivery;

/** How work came out. */
export interface WorkOutcome {
  /** `ok`, or the code of what it was refused with or ran into. */
  readonly code: string;
  /** Of HTTP. */
  readonly status?: number | undefined;
  /** The id of the token that called. */
  readonly caller?: string | undefined;
}

/** An HTTP request and what answers it. */
export interface HttpExchange {
  readonly surface: Surface;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
}

export const surfaces = ["rest", "mcp", "webhook", "download", "invitation", "probe", "other"] as const;
export type Surface = (typeof surfaces)[number];

/** What happens on the way and is counted. */
export interface TelemetryNotes {
  readonly confirmation: "asked" | "accepted" | "declined";
  /** A request to the product's own service is tried again. */
  readonly retry: "retry";
  /** Milliseconds that a call waited for its turn with the product's own service. */
  readonly pace: number;
  /** Milliseconds that a transaction waited to begin. */
  readonly databaseWait: number;
}

/** Whoever watches what is done: the access log, metrics, traces. Watching changes nothing of it. */
export interface Telemetry {
  /**
   * Does work and notes how it came out: as `outcomeOf` says, or by what it threw, which is thrown on.
   * What is watched inside belongs to it.
   */
  watch<R>(work: ObservedWork, run: () => Promise<R>, outcomeOf: (result: R) => WorkOutcome): Promise<R>;
  /** Calls `serve` at once, and notes how the exchange came out when it has ended. */
  exchange(exchange: HttpExchange, serve: () => void): void;
  note<K extends keyof TelemetryNotes>(kind: K, value: TelemetryNotes[K]): void;
  /** The headers by which a request that goes out carries the trace on; nothing where there is none. */
  traceHeaders(): Readonly<Record<string, string>> | undefined;
}

/** Nobody watches. */
export const unwatched: Telemetry = {
  watch: (_work, run) => run(),
  exchange: (_exchange, serve) => serve(),
  note: () => undefined,
  traceHeaders: () => undefined,
};

export const succeeded: WorkOutcome = { code: "ok" };
