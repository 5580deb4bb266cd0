import { errorCatalog } from "../contract/errors.ts";
import { isCallName, operations } from "../contract/index.ts";
import type { Log } from "../lib/log.ts";
import type { HttpExchange, ObservedWork, OperationCall, ToolCall, WorkOutcome } from "../lib/telemetry.ts";

/** Writes one line for each request, on any surface. */
export interface RequestLog {
  logWork(work: ObservedWork, outcome: WorkOutcome, durationMs: number): void;
  /** Reports whether attempts of requests to a remote service are logged. */
  logsUpstreamRequests(): boolean;
  beginExchange(exchange: HttpExchange): void;
  logExchange(exchange: HttpExchange, status: number, durationMs: number): void;
}

type LoggedWork = Exclude<ObservedWork, { kind: "transaction" | "delivery" }>;
type Level = "info" | "debug" | "trace";
type Facts = Readonly<Record<string, unknown>>;

const messages: Readonly<Record<LoggedWork["kind"], string>> = {
  tool: "Tool call",
  mcp: "MCP request",
  operation: "Operation",
  upstream: "Upstream request",
};

/**
 * Creates the request log. Successful changes and failures of the server are logged at `info`; reads and refusals, which
 * are far more frequent, at `debug`. Each line names the caller by an id that grants no access.
 */
export function createRequestLog(log: Log): RequestLog {
  /** The ids of HTTP requests that have no line yet. */
  const unlogged = new Set<string>();

  function writeLine(level: Level, message: string, facts: Facts, durationMs: number): void {
    log[level]({ ...facts, durationMs: Math.round(durationMs * 100) / 100 }, message);
  }

  return {
    logWork(work, outcome, durationMs) {
      if (work.kind === "transaction" || work.kind === "delivery") return;
      if (standsForExchange(work)) unlogged.delete(work.requestId);
      const level = chooseLevel(work, outcome);
      if (log.isLevelEnabled(level)) writeLine(level, messages[work.kind], listFacts(work, outcome), durationMs);
    },

    logsUpstreamRequests: () => log.isLevelEnabled("debug"),

    beginExchange({ requestId }) {
      if (log.isLevelEnabled("debug")) unlogged.add(requestId);
    },

    logExchange({ surface, request, requestId }, status, durationMs) {
      if (!unlogged.delete(requestId)) return;
      const level = surface === "probe" ? "trace" : "debug";
      if (log.isLevelEnabled(level))
        writeLine(level, "HTTP request", { surface, method: request.method, status, requestId }, durationMs);
    },
  };
}

/** Reports whether the line of this work makes a line of its HTTP request superfluous. */
function standsForExchange(work: LoggedWork): work is Exclude<LoggedWork, { kind: "upstream" }> {
  return work.kind !== "upstream" && (work.kind !== "operation" || work.surface === "rest");
}

function chooseLevel(work: LoggedWork, { code }: WorkOutcome): Level {
  if (work.kind === "upstream") return "debug";
  if (work.kind === "mcp") return code === "internal_error" ? "info" : "debug";
  // The tool call has a line of its own.
  if (work.kind === "operation" && work.surface === "mcp") return "trace";
  return chooseCallLevel(work, code);
}

function chooseCallLevel({ name }: ToolCall | OperationCall, code: string): Level {
  const failed = Object.hasOwn(errorCatalog, code) && errorCatalog[code as keyof typeof errorCatalog].status >= 500;
  const reads = !isCallName(name) || operations[name].effect === "read";
  return failed || (!reads && code === "ok") ? "info" : "debug";
}

function listFacts(work: LoggedWork, { code: outcome, status, caller }: WorkOutcome): Facts {
  switch (work.kind) {
    case "tool":
      return { surface: "mcp", tool: work.name, outcome, requestId: work.requestId, ...shortenCaller(work.caller) };
    case "mcp":
      return { surface: "mcp", method: work.method, outcome, requestId: work.requestId, ...shortenCaller(work.caller) };
    case "operation": {
      const { surface, name: operation, requestId } = work;
      return { surface, operation, outcome, status, requestId, ...shortenCaller(caller) };
    }
    case "upstream":
      return { method: work.method, origin: work.origin, outcome };
  }
}

/** Shortens a caller that is a SHA-256 to its first 16 digits; the id of a token stays whole. */
function shortenCaller(caller: string | undefined) {
  return caller === undefined ? {} : { caller: caller.length === 64 ? caller.slice(0, 16) : caller };
}
