import { errorCatalog } from "../contract/errors.ts";
import { isCallName, operations } from "../contract/index.ts";
import type { Log } from "../lib/log.ts";
import type { HttpExchange, ObservedWork, OperationCall, ToolCall, WorkOutcome } from "../lib/telemetry.ts";

/** One line for each request, whichever face it came in by. */
export interface AccessLines {
  work(work: ObservedWork, outcome: WorkOutcome, durationMs: number): void;
  /** Whether tries of requests to the product's service are told. */
  tellsTries(): boolean;
  begun(exchange: HttpExchange): void;
  exchange(exchange: HttpExchange, status: number, durationMs: number): void;
}

type Level = "info" | "debug" | "trace";

/**
 * What changes something, and what failed for no fault of its caller's, is told at `info`; reads and refusals are the
 * mass, and told at `debug`. Each line says who called, by an id that opens nothing.
 */
export function createAccessLines(log: Log): AccessLines {
  /** Requests of which no line tells yet. */
  const untold = new Set<string>();

  function writeLine(
    level: Level,
    message: string,
    facts: Readonly<Record<string, unknown>>,
    durationMs: number,
  ): void {
    log[level]({ ...facts, durationMs: Math.round(durationMs * 100) / 100 }, message);
  }

  return {
    work(work, outcome, durationMs) {
      const { code, status, caller } = outcome;
      switch (work.kind) {
        case "tool": {
          const level = chooseLevel(work, code);
          untold.delete(work.requestId);
          if (!log.isLevelEnabled(level)) return;
          const { name, requestId } = work;
          writeLine(
            level,
            "Tool call",
            { surface: "mcp", tool: name, outcome: code, requestId, ...describeCaller(work.caller) },
            durationMs,
          );
          return;
        }
        case "mcp": {
          const level = code === "internal_error" ? "info" : "debug";
          untold.delete(work.requestId);
          if (!log.isLevelEnabled(level)) return;
          const { method, requestId } = work;
          writeLine(
            level,
            "MCP request",
            { surface: "mcp", method, outcome: code, requestId, ...describeCaller(work.caller) },
            durationMs,
          );
          return;
        }
        case "operation": {
          // Of a tool call its own line tells.
          const level = work.surface === "mcp" ? "trace" : chooseLevel(work, code);
          if (work.surface === "rest") untold.delete(work.requestId);
          if (!log.isLevelEnabled(level)) return;
          const { surface, name, requestId } = work;
          writeLine(
            level,
            "Operation",
            { surface, operation: name, outcome: code, status, requestId, ...describeCaller(caller) },
            durationMs,
          );
          return;
        }
        case "upstream": {
          const { method, origin } = work;
          writeLine("debug", "Upstream request", { method, origin, outcome: code }, durationMs);
          return;
        }
        default:
      }
    },

    tellsTries: () => log.isLevelEnabled("debug"),

    begun({ requestId }) {
      if (log.isLevelEnabled("debug")) untold.add(requestId);
    },

    exchange({ surface, request, requestId }, status, durationMs) {
      if (!untold.delete(requestId)) return;
      const level = surface === "probe" ? "trace" : "debug";
      if (log.isLevelEnabled(level))
        writeLine(level, "HTTP request", { surface, method: request.method, status, requestId }, durationMs);
    },
  };
}

function chooseLevel({ name }: ToolCall | OperationCall, code: string): Level {
  const failed = Object.hasOwn(errorCatalog, code) && errorCatalog[code as keyof typeof errorCatalog].status >= 500;
  const reads = !isCallName(name) || operations[name].effect === "read";
  return failed || (!reads && code === "ok") ? "info" : "debug";
}

/** An opaque name of a caller that is long is told by how it begins. */
function describeCaller(caller: string | undefined) {
  return caller === undefined ? {} : { caller: caller.length === 64 ? caller.slice(0, 16) : caller };
}
