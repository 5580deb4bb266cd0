import { type McpRequestContext, ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { Problem } from "../contract/errors.ts";
import type { CallName } from "../contract/index.ts";
import { getRequestCaller, getRequestId } from "../lib/http/request-id.ts";
import type { Log } from "../lib/log.ts";
import { succeeded, type Telemetry, unwatched } from "../lib/telemetry.ts";
import { findPrompt } from "../resources/prompts.ts";
import {
  registerResources,
  registerSubscribing,
  registerSubscriptions,
  type Subscriptions,
} from "../resources/register.ts";
import { registerTools } from "../tools/register.ts";
import type { ConfirmationPolicy, ToolContext } from "../tools/session.ts";
import type { ToolSettings } from "../tools/settings.ts";
import type { Upstream } from "../upstream/port.ts";
import { createServerInfo, createServerOptions } from "./server-info.ts";

export interface ServerDeps {
  readonly upstream: Upstream;
  readonly version: string;
  readonly log: Log;
  readonly confirmation: ConfirmationPolicy;
  readonly settings: ToolSettings;
  readonly telemetry: Telemetry;
  /** The setting that keeps an operation from agents, if one does. */
  readonly disabledBySetting: (name: CallName) => string | undefined;
  /** The token of a connection that carries none itself (stdio). */
  readonly token?: string | undefined;
}

/** @param subscriptions - where a 2025-era connection that does not last keeps what its client follows */
export type ServerFactory = (context: McpRequestContext, subscriptions?: Subscriptions) => GuardedServer;

/**
 * Makes the MCP server of one HTTP request or one stdio connection, for either protocol revision. The SDK's low-level
 * server: it answers about twice as many calls as its high-level one.
 */
export function createServerFactory({
  upstream,
  version,
  log,
  token,
  confirmation,
  settings,
  telemetry,
  disabledBySetting,
}: ServerDeps): ServerFactory {
  const followed = upstream.watch !== undefined;
  return ({ authInfo, era }, subscriptions) => {
    const server = new GuardedServer(
      createServerInfo(version),
      createServerOptions({ followed, watchesRecords: upstream.watchesRecords === true }),
    );
    server.onerror = (error) => log.debug({ err: error }, "The MCP connection reported an error");
    server.watch(telemetry, log);
    const getClientCapabilities = () => server.getClientCapabilities();
    const getProtocolVersion = () => server.getNegotiatedProtocolVersion();
    const session = { upstream, token: authInfo?.token ?? token, disabledBySetting };
    registerTools(server, {
      ...session,
      confirmation,
      settings,
      telemetry,
      clientCapabilities: getClientCapabilities,
      protocolVersion: getProtocolVersion,
    });
    const { resultBytes } = settings;
    registerResources(server, { ...session, resultBytes });
    if (subscriptions && upstream.watchesRecords) registerSubscribing(server, subscriptions);
    else if (followed && era === "legacy") registerSubscriptions(server, session, (work) => server.closing.push(work));
    return server;
  };
}

/** The SDK sends whatever a handler throws as it is; here only what was meant to be seen passes. */
export class GuardedServer extends Server {
  #log: Log | undefined;
  #telemetry = unwatched;
  /** What is done when the connection has closed. */
  readonly closing: (() => void)[] = [];

  watch(telemetry: Telemetry, log: Log): void {
    this.#telemetry = telemetry;
    this.#log = log;
  }

  /** Does work of which nobody who watches is told. */
  async unwatched(work: () => Promise<void>): Promise<void> {
    const telemetry = this.#telemetry;
    this.#telemetry = unwatched;
    await work();
    this.#telemetry = telemetry;
  }

  protected override _onclose(): void {
    for (const work of this.closing.splice(0)) work();
    super._onclose();
  }

  protected override _wrapHandler(...[method, handler]: Parameters<Server["_wrapHandler"]>) {
    return super._wrapHandler(method, async (request, context) => {
      try {
        // Tool calls are watched where both roads to them meet.
        if (method === "tools/call") return await handler(request, context);
        const asked = {
          ...describeRequest(context),
          kind: "mcp",
          method,
          prompt: findPromptName(method, request),
        } as const;
        return await this.#telemetry.watch(
          asked,
          async () => handler(request, context),
          () => succeeded,
        );
      } catch (error) {
        throw toClientError(error, this.#log);
      }
    });
  }
}

/** What is known of an MCP request before it is answered. */
export function describeRequest(context: ToolContext) {
  const transport = context.http ? "tcp" : "pipe";
  return {
    requestId: getRequestId(context),
    caller: getRequestCaller(context),
    trace: context.mcpReq._meta,
    transport,
  } as const;
}

/** The prompt that is got, where there is one of that name. */
function findPromptName(method: string, request: unknown): string | undefined {
  const name = (request as { readonly params?: { readonly name?: unknown } }).params?.name;
  return method === "prompts/get" && typeof name === "string" ? findPrompt(name)?.name : undefined;
}

/** What a client may see of an error. */
export function toClientError(error: unknown, log: Log | undefined): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof Problem) {
    return new ProtocolError(ProtocolErrorCode.InvalidRequest, error.message, {
      code: error.code,
      next: error.remediation,
    });
  }
  log?.error({ err: error }, "The MCP request failed");
  return new ProtocolError(ProtocolErrorCode.InternalError, "Internal error");
}
