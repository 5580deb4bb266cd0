import { type AuthInfo, type JSONRPCResponse, type Result, SERVER_INFO_META_KEY } from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { toJsonText } from "../../lib/json-cache.ts";
import { succeeded } from "../../lib/telemetry.ts";
import { answerCall, isAnsweredAtOnce, listTools } from "../../tools/register.ts";
import type { ToolContext, ToolSession } from "../../tools/session.ts";
import { describeRequest, type ServerDeps, toClientError } from "../mcp-server.ts";
import { createServerInfo, toolListCache } from "../server-info.ts";
import type { PlainRequest } from "./plain-request.ts";

/** Whose request it is, and what is known of its connection. */
export interface FastPathCaller {
  readonly authInfo?: AuthInfo | undefined;
  /** Of a connection whose requests bring no token. */
  readonly token?: string | undefined;
  /** The revision that a handshake agreed on; nothing where each request says so itself. */
  readonly revision: string | undefined;
  readonly signal: AbortSignal;
}

/** Answers plain requests beside the SDK, at a fraction of what an exchange costs there. */
export interface FastPath {
  /** Whether the lane answers the request; whatever may need more than an answer is left to the SDK. */
  takes(request: PlainRequest): boolean;
  answer(request: PlainRequest, caller: FastPathCaller): Promise<JSONRPCResponse>;
}

export type FastPathDeps = Omit<ServerDeps, "token">;

/** Lists are the same for all tokens of the same scopes, and long. */
const maxLists = 100;

export function createFastPath(deps: FastPathDeps): FastPath {
  const { log, version, upstream, confirmation, settings, telemetry } = deps;
  /** How revision 2026-07-28 marks a result. */
  const stamp = { resultType: "complete", _meta: { [SERVER_INFO_META_KEY]: createServerInfo(version) } };
  // The same in each of them, it is written out once.
  toJsonText(stamp._meta);
  const lists = new LRUCache<string, Result>({ max: maxLists });

  async function listFor(session: ToolSession, stateless: boolean): Promise<Result> {
    const { scopes } = await session.upstream.identify(session.token);
    const key = `${stateless} ${[...scopes].join(" ")}`;
    const known = lists.get(key);
    if (known) return known;
    const tools = await listTools(session);
    const result: Result = stateless ? { tools, ...stamp, ...toolListCache } : { tools };
    lists.set(key, result);
    // Written out here, a list is at hand as text.
    toJsonText(result);
    return result;
  }

  function createResult(request: PlainRequest, caller: FastPathCaller, stateless: boolean): Promise<Result> {
    const { authInfo, revision } = caller;
    // Name by name: of what else there is to copy, each call would pay for it.
    const session: ToolSession = {
      upstream,
      confirmation,
      settings,
      telemetry,
      token: authInfo?.token ?? caller.token,
      // Only who may have to be asked is looked at for what it declared.
      clientCapabilities: () => undefined,
      protocolVersion: () => revision,
    };
    const context = createToolContext(request, caller);
    if (request.method === "tools/list") {
      const asked = { ...describeRequest(context), kind: "mcp", method: request.method } as const;
      return telemetry.watch(
        asked,
        () => listFor(session, stateless),
        () => succeeded,
      );
    }
    return answerCall(session, context, request.name, request.args);
  }

  return {
    takes: (request) => request.method === "tools/list" || isAnsweredAtOnce(deps, request.name, request.args),

    async answer(request, caller) {
      const { id } = request;
      const stateless = caller.revision === undefined;
      try {
        const result = await createResult(request, caller, stateless);
        const marked = stateless && request.method === "tools/call" ? { ...result, ...stamp } : result;
        return { jsonrpc: "2.0", id, result: marked };
      } catch (error) {
        const { code, message, data } = toClientError(error, log);
        return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
      }
    },
  };
}

function createToolContext({ meta }: PlainRequest, { authInfo, revision, signal }: FastPathCaller): ToolContext {
  return {
    mcpReq: {
      ...(meta === undefined ? {} : { _meta: meta }),
      ...(revision === undefined ? { envelope: meta as ToolContext["mcpReq"]["envelope"] } : {}),
      signal,
      notify: async () => undefined,
      requestState: () => undefined,
    },
    ...(authInfo === undefined ? {} : { http: { authInfo } }),
  } as ToolContext;
}
