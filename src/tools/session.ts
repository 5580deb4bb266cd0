import type { ClientCapabilities, ServerContext } from "@modelcontextprotocol/server";
import type { Approvals } from "../approvals/approvals.ts";
import type { ConfirmationMode } from "../contract/definition/confirmation.ts";
import type { CallName } from "../contract/index.ts";
import type { Telemetry } from "../lib/telemetry.ts";
import type { ConsumeConfirmations, RequestCaller, Upstream } from "../upstream/port.ts";
import type { ToolSettings } from "./settings.ts";

export interface ConfirmationPolicy {
  readonly mode: ConfirmationMode;
  /** Tools that may be called without confirmation. */
  readonly approved: ReadonlySet<CallName>;
  /** Signs confirmations: at least 32 bytes, the same in all processes. */
  readonly key: Uint8Array;
  /** Makes confirmations of a realm unusable: those of a question that a human answered with no. */
  readonly consume: ConsumeConfirmations;
  /** Approvals by signed-in people. */
  readonly approvals: Approvals;
  /** Returns the address of the page on which a person decides. */
  getApprovalUrl(approvalId: string): Promise<string>;
  now(): Date;
}

/** The part of the SDK's context that tools use. */
export interface ToolContext {
  readonly mcpReq: Pick<
    ServerContext["mcpReq"],
    "_meta" | "envelope" | "signal" | "notify" | "inputResponses" | "requestState"
  >;
  readonly http?: {
    readonly authInfo?: NonNullable<ServerContext["http"]>["authInfo"];
    readonly req?: { readonly headers: Pick<Headers, "get"> };
  };
}

/** The dependencies of the tools of one connection or request. */
export interface ToolSession extends RequestCaller {
  readonly upstream: Upstream;
  readonly confirmation: ConfirmationPolicy;
  readonly settings: ToolSettings;
  readonly telemetry: Telemetry;
  /** The capabilities of a 2025-era connection's client; `undefined` over stateless HTTP. */
  clientCapabilities(): ClientCapabilities | undefined;
  /** The name of a 2025-era connection's client; `undefined` over stateless HTTP. */
  clientName(): string | undefined;
  /** Returns whether the client shows views of results (MCP Apps). */
  showsViews(context: ToolContext): boolean;
  /** The protocol version of a 2025-era connection; `undefined` over stateless HTTP. */
  protocolVersion(): string | undefined;
}
