import {
  type AuthInfo,
  type ClientCapabilities,
  type JSONRPCResponse,
  type Result,
  SERVER_INFO_META_KEY,
} from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { toJsonText } from "../../lib/json-cache.ts";
import { isObject } from "../../lib/json-value.ts";
import { succeeded } from "../../lib/telemetry.ts";
import { answerCall, isAnsweredAtOnce, listCallerTools } from "../../tools/register.ts";
import type { ToolContext, ToolSession } from "../../tools/session.ts";
import { getIdentity, getRequestCaller } from "../../upstream/request-caller.ts";
import { describeRequest, type ServerDeps, toClientError } from "../mcp-server.ts";
import { createServerInfo, toolListCache } from "../server-info.ts";
import { canClientShowViews } from "../view-support.ts";
import { createInFlightRequests } from "./in-flight-requests.ts";
import { type PlainRequest, toPlainRequest } from "./plain-request.ts";

/** The connection, session or HTTP request that a message came by. */
export interface FastPathConnection {
  /** Request ids are unique in it, by caller; undefined if the client cannot cancel its requests by another message. */
  readonly id: string | undefined;
  readonly authInfo?: AuthInfo | undefined;
  /** The token of a connection whose requests carry none. */
  readonly token?: string | undefined;
  /** True if each request states its revision, as those of 2026-07-28 do. */
  readonly stateless: boolean;
  /** Returns what a handshake agreed on; undefined leaves the request to the SDK. */
  terms(): NegotiatedTerms | undefined | Promise<NegotiatedTerms | undefined>;
}

/** The terms that a 2025-era client and this server agreed on. */
export interface NegotiatedTerms {
  readonly revision: string;
  readonly capabilities?: ClientCapabilities | undefined;
}

export interface FastPath {
  /**
   * Answers a parsed message if it is a plain request that needs no question and no waiting. Aborts the call that a
   * cancellation names, and leaves the cancellation itself to the SDK.
   * @param controller - aborts the call
   * @returns undefined, at once or later, if the SDK has to answer
   */
  answer(
    message: unknown,
    connection: FastPathConnection,
    controller: AbortController,
  ): Promise<JSONRPCResponse | undefined> | undefined;
}

export type FastPathDeps = Omit<ServerDeps, "token">;

/** Tool lists are long, and the same for all tokens with the same scopes. */
const maxLists = 100;

/** Answers plain `tools/call` and `tools/list` requests without the SDK: see docs/decisions/0009-fast-path.md. */
export function createFastPath(deps: FastPathDeps): FastPath {
  const { log, version, upstream, confirmation, settings, telemetry } = deps;
  const inFlight = createInFlightRequests();
  /** The fields by which revision 2026-07-28 marks a result. */
  const resultFields = { resultType: "complete", _meta: { [SERVER_INFO_META_KEY]: createServerInfo(version) } };
  const listToolsFor = createToolListCache({ ...resultFields, ...toolListCache });

  function computeResult(request: PlainRequest, call: PlainCall): Promise<Result> {
    const { terms, stateless } = call;
    const context = createToolContext(request, call);
    const session: ToolSession = {
      upstream,
      confirmation,
      settings,
      telemetry,
      ...getRequestCaller(context, { token: call.token }),
      // Only calls that may ask the client something look at its capabilities.
      clientCapabilities: () => undefined,
      clientName: () => undefined,
      protocolVersion: () => terms?.revision,
      showsViews: ({ mcpReq }) => canClientShowViews(settings, mcpReq, terms?.capabilities),
    };
    if (request.method === "tools/call") return answerCall(session, context, request.name, request.args);
    const described = { ...describeRequest(context), kind: "mcp", method: request.method } as const;
    return telemetry.watch(
      described,
      () => listToolsFor(session, stateless, session.showsViews(context)),
      () => succeeded,
    );
  }

  async function answerRequest(
    request: PlainRequest,
    connection: FastPathConnection,
    controller: AbortController,
  ): Promise<JSONRPCResponse | undefined> {
    const { id } = request;
    const { stateless, authInfo, token } = connection;
    const terms = stateless ? undefined : await connection.terms();
    if (!stateless && terms === undefined) return undefined;
    const end = inFlight.begin(connection.id, id, controller);
    try {
      const call = { authInfo, token, stateless, terms, signal: controller.signal };
      const result = await computeResult(request, call);
      // The cached result of a list has these fields.
      const lacksFields = stateless && request.method === "tools/call";
      return { jsonrpc: "2.0", id, result: lacksFields ? { ...result, ...resultFields } : result };
    } catch (error) {
      const { code, message, data } = toClientError(error, log);
      return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
    } finally {
      end();
    }
  }

  return {
    answer(message, connection, controller) {
      const request = toPlainRequest(message, connection.stateless);
      if (request?.method === "tools/call" && !isAnsweredAtOnce(deps, request.name, request.args)) return undefined;
      if (request) return answerRequest(request, connection, controller);
      inFlight.cancel(connection.id, getCancelledId(message));
      return undefined;
    },
  };
}

/** Returns a function that lists a caller's tools, and keeps each list. */
function createToolListCache(statelessFields: object) {
  const lists = new LRUCache<string, Result>({ max: maxLists });
  return async (session: ToolSession, stateless: boolean, withViews: boolean): Promise<Result> => {
    const { scopes } = await getIdentity(session.upstream, session);
    const key = `${stateless} ${withViews} ${[...scopes].join(" ")}`;
    const known = lists.get(key);
    if (known) return known;
    const tools = await listCallerTools(session, withViews);
    const result: Result = stateless ? { tools, ...statelessFields } : { tools };
    lists.set(key, result);
    // Each answer takes the text of the list from this cache.
    toJsonText(result);
    return result;
  };
}

interface PlainCall extends Pick<FastPathConnection, "authInfo" | "token" | "stateless"> {
  readonly terms: NegotiatedTerms | undefined;
  readonly signal: AbortSignal;
}

function createToolContext({ meta }: PlainRequest, { authInfo, stateless, signal }: PlainCall): ToolContext {
  return {
    mcpReq: {
      ...(meta === undefined ? {} : { _meta: meta }),
      ...(stateless ? { envelope: meta as ToolContext["mcpReq"]["envelope"] } : {}),
      signal,
      notify: async () => undefined,
      requestState: () => undefined,
    },
    ...(authInfo === undefined ? {} : { http: { authInfo } }),
  } as ToolContext;
}

/** Returns the id of the request that a `notifications/cancelled` message names. */
function getCancelledId(message: unknown): unknown {
  if (!isObject(message) || message["method"] !== "notifications/cancelled") return undefined;
  const { params } = message;
  return isObject(params) ? params["requestId"] : undefined;
}
