import type { ClientCapabilities } from "@modelcontextprotocol/server";
import type { ConfirmationPosture } from "../contract/confirmation.ts";
import type { CallName } from "../contract/index.ts";
import type { Upstream } from "../upstream/port.ts";
import type { ToolSettings } from "./settings.ts";

export interface ConfirmationPolicy {
  readonly posture: ConfirmationPosture;
  /** Tools that an automation may use without a question. */
  readonly approved: ReadonlySet<CallName>;
  /** Signs questions; at least 32 bytes, the same in all processes. */
  readonly key: Uint8Array;
  now(): Date;
}

/** What the tools of one connection or request work with. */
export interface ToolSession {
  readonly upstream: Upstream;
  /** The caller's bearer token. */
  readonly token: string | undefined;
  readonly confirmation: ConfirmationPolicy;
  readonly settings: ToolSettings;
  /** What the client of a 2025-era connection declared; over stateless HTTP nothing. */
  clientCapabilities(): ClientCapabilities | undefined;
  /** The revision that a 2025-era connection agreed on; over stateless HTTP nothing. */
  protocolVersion(): string | undefined;
}
