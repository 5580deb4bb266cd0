import { type Attributes, SpanKind } from "@opentelemetry/api";
import { errorCatalog } from "../contract/errors.ts";
import { type CallName, operations } from "../contract/index.ts";
import type { HttpExchange, ObservedWork, WorkOutcome } from "../lib/telemetry.ts";

interface Description {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
}

/**
 * Describes a span by the semantic conventions of OpenTelemetry for HTTP and MCP. Uses only names of the contract: no
 * arguments, addresses, queries or record ids, because some contain personal data.
 */
export function describeSpan(work: ObservedWork): Description {
  switch (work.kind) {
    case "tool":
      return {
        name: `tools/call ${work.name}`,
        kind: SpanKind.SERVER,
        attributes: {
          "mcp.method.name": "tools/call",
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": work.name,
          "network.transport": work.transport,
          "programme.request_id": work.requestId,
        },
      };
    case "mcp":
      return {
        name: work.prompt === undefined ? work.method : `${work.method} ${work.prompt}`,
        kind: SpanKind.SERVER,
        attributes: {
          "mcp.method.name": work.method,
          ...(work.prompt === undefined ? {} : { "gen_ai.prompt.name": work.prompt }),
          "network.transport": work.transport,
          "programme.request_id": work.requestId,
        },
      };
    case "operation":
      return {
        name: `pipeline.execute ${work.name}`,
        kind: SpanKind.INTERNAL,
        attributes: { "programme.operation": work.name, "programme.request_id": work.requestId },
      };
    case "transaction":
      return {
        name: "transaction",
        kind: SpanKind.CLIENT,
        attributes: { "db.system.name": work.system, "db.operation.name": "transaction" },
      };
    case "upstream":
      return { name: work.method, kind: SpanKind.CLIENT, attributes: getUpstreamAttributes(work.method, work.origin) };
    case "delivery":
      return { name: `deliver ${work.of}`, kind: SpanKind.PRODUCER, attributes: { "programme.delivery": work.of } };
  }
}

function getUpstreamAttributes(method: string, origin: string): Attributes {
  const { protocol, hostname, port } = new URL(origin);
  return {
    "http.request.method": method,
    "url.scheme": protocol.slice(0, -1),
    "server.address": hostname,
    "server.port": Number(port || (protocol === "https:" ? 443 : 80)),
  };
}

export function describeExchange({ surface, request, requestId }: HttpExchange): Description {
  const method = knownMethods.has(request.method ?? "") ? (request.method as string) : "_OTHER";
  return {
    name: `${method} ${surface}`,
    kind: SpanKind.SERVER,
    attributes: {
      "http.request.method": method,
      "url.scheme": "http",
      "network.protocol.version": request.httpVersion,
      "programme.surface": surface,
      "programme.request_id": requestId,
    },
  };
}

/** The methods that the convention for HTTP lists. */
const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"]);

/** Returns the route that names a REST request, once its operation is known. */
export function getRoute(work: ObservedWork): { readonly path: string; readonly name: string } | undefined {
  if (work.kind !== "operation" || work.surface !== "rest") return undefined;
  const { method, path: below } = operations[work.name as CallName];
  const path = `/integrations/v1${below}`;
  return { path, name: `${method} ${path}` };
}

/** Describes the end of a span. The error of a tool call is in its result. */
export function describeSpanEnd({ code, status }: WorkOutcome, ofTool: boolean) {
  const good = code === "ok" || code === "asked";
  const known = Object.hasOwn(errorCatalog, code) ? errorCatalog[code as keyof typeof errorCatalog].status : undefined;
  // A refusal is the caller's error and not the server's, but for an agent it is an error of the tool.
  const failed = !good && (ofTool || (status ?? known ?? 500) >= 500);
  const attributes: Attributes = {
    "programme.outcome": code,
    ...(status === undefined ? {} : { "http.response.status_code": status }),
    ...(failed ? { "error.type": ofTool ? "tool_error" : code } : {}),
  };
  return { attributes, failed };
}
