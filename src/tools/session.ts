import type { ClientCapabilities } from "@modelcontextprotocol/server";
import type { Upstream } from "../upstream/port.ts";
import type { ConfirmationPolicy } from "./confirm.ts";
import type { ToolSettings } from "./settings.ts";

/** What the tools of one connection or request work with. */
export interface ToolSession {
  readonly upstream: Upstream;
  /** The caller's bearer token. */
  readonly token: string | undefined;
  readonly confirmation: ConfirmationPolicy;
  readonly settings: ToolSettings;
  /** What the client of a 2025-era connection declared; over stateless HTTP nothing. */
  clientCapabilities(): ClientCapabilities | undefined;
}
