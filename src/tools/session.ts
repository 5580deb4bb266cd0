import type { ClientCapabilities, ServerContext } from "@modelcontextprotocol/server";
import type { ConfirmationMode } from "../contract/confirmation.ts";
import type { CallName } from "../contract/index.ts";
import type { Telemetry } from "../lib/telemetry.ts";
import type { Upstream } from "../upstream/port.ts";
import type { ToolSettings } from "./settings.ts";

export interface ConfirmationPolicy {
  readonly mode: ConfirmationMode;
  /** Tools that an automation may use without a question. */
  readonly approved: ReadonlySet<CallName>;
  /** Signs questions; at least 32 bytes, the same in all processes. */
  readonly key: Uint8Array;
  now(): Date;
}

/** What a tool is told of its call: as much of the SDK's context as tools look into. */
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

/** What the tools of one connection or request work with. */
export interface ToolSession {
  readonly upstream: Upstream;
  /** The caller's bearer token. */
  readonly token: string | undefined;
  readonly confirmation: ConfirmationPolicy;
  readonly settings: ToolSettings;
  readonly telemetry: Telemetry;
  /** What the client of a 2025-era connection declared; over stateless HTTP nothing. */
  clientCapabilities(): ClientCapabilities | undefined;
  /** The revision that a 2025-era connection agreed on; over stateless HTTP nothing. */
  protocolVersion(): string | undefined;
}
