import { type McpRequestContext, ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { Problem, toAgentError } from "../contract/errors.ts";
import type { CallName } from "../contract/index.ts";
import { getRequestId } from "../lib/http/request-id.ts";
import type { Log } from "../lib/log.ts";
import { succeeded, type Telemetry, unwatched } from "../lib/telemetry.ts";
import { createUnknownCursorError } from "../resources/list.ts";
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
import { getRequestCaller } from "../upstream/request-caller.ts";
import { IdentifiedServer } from "./identified-server.ts";
import { readInvalidParams } from "./invalid-params.ts";
import { createServerOptions } from "./server-info.ts";
import { canClientShowViews } from "./view-support.ts";

export interface ServerDeps {
  readonly upstream: Upstream;
  readonly version: string;
  readonly log: Log;
  readonly confirmation: ConfirmationPolicy;
  readonly settings: ToolSettings;
  readonly telemetry: Telemetry;
  /** Returns the setting that disables an operation for agents, if one does. */
  readonly disabledBySetting: (name: CallName) => string | undefined;
  /** The token of a connection whose requests carry none (stdio). */
  readonly token?: string | undefined;
}

/** @param subscriptions - stores what the client of a 2025-era session follows, since the server lasts for one request only */
export type ServerFactory = (context: McpRequestContext, subscriptions?: Subscriptions) => GuardedServer;

/**
 * Returns a factory of the MCP server of one HTTP request or one stdio connection, for either protocol revision. Uses the
 * SDK's low-level server, which answers about twice as many calls a second as its high-level one.
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
      version,
      createServerOptions({ followed, watchesRecords: upstream.watchesRecords === true }),
    );
    server.onerror = (error) => log.debug({ err: error }, "The MCP connection reported an error");
    server.watch(telemetry, log);
    const getClientCapabilities = () => server.getClientCapabilities();
    const getProtocolVersion = () => server.getNegotiatedProtocolVersion();
    const { approvals } = confirmation;
    const session = {
      upstream,
      token: authInfo?.token ?? token,
      disabledBySetting,
      showsViews: ({ mcpReq }: Pick<ToolContext, "mcpReq">) =>
        canClientShowViews(settings, mcpReq, getClientCapabilities()),
    };
    registerTools(server, {
      ...session,
      confirmation,
      settings,
      telemetry,
      clientCapabilities: getClientCapabilities,
      clientName: () => server.getClientVersion()?.name,
      protocolVersion: getProtocolVersion,
    });
    const { resultBytes } = settings;
    registerResources(server, { ...session, approvals, resultBytes });
    if (subscriptions && upstream.watchesRecords) registerSubscribing(server, subscriptions);
    else if (followed && era === "legacy") registerSubscriptions(server, session, (work) => server.closing.push(work));
    return server;
  };
}

/** Hides unexpected errors from clients: the SDK sends whatever a handler throws. */
export class GuardedServer extends IdentifiedServer {
  #log: Log | undefined;
  #telemetry = unwatched;
  /** Runs when the connection has closed. */
  readonly closing: (() => void)[] = [];

  watch(telemetry: Telemetry, log: Log): void {
    this.#telemetry = telemetry;
    this.#log = log;
  }

  /** Does work without telemetry. */
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
        // Tool calls are recorded where the SDK and the fast path meet.
        if (method === "tools/call") return await handler(request, context);
        const described = {
          ...describeRequest(context),
          kind: "mcp",
          method,
          prompt: findPromptName(method, request),
        } as const;
        return await this.#telemetry.watch(
          described,
          async () => {
            if (method === "tools/list" && request.params?.["cursor"] !== undefined) throw createUnknownCursorError();
            return handler(request, context);
          },
          () => succeeded,
        );
      } catch (error) {
        throw readInvalidParams(method, error) ?? toClientError(error, this.#log);
      }
    });
  }
}

/** Describes an MCP request for telemetry. */
export function describeRequest(context: ToolContext) {
  const transport = context.http ? "tcp" : "pipe";
  return {
    requestId: getRequestId(context),
    caller: getRequestCaller(context).identity?.caller,
    trace: context.mcpReq._meta,
    transport,
  } as const;
}

/** Returns the name of the prompt that a request gets, if there is such a prompt. */
function findPromptName(method: string, request: unknown): string | undefined {
  const name = (request as { readonly params?: { readonly name?: unknown } }).params?.name;
  return method === "prompts/get" && typeof name === "string" ? findPrompt(name)?.name : undefined;
}

/** Converts an error to one that a client may see. Logs unexpected ones. */
export function toClientError(error: unknown, log: Log | undefined): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof Problem) {
    const { message, ...data } = toAgentError(error);
    return new ProtocolError(ProtocolErrorCode.InvalidRequest, message, data);
  }
  log?.error({ err: error }, "The MCP request failed");
  return new ProtocolError(ProtocolErrorCode.InternalError, "Internal error");
}
