import type { Upstream } from "../upstream/port.ts";

/** What the tools of one connection or request work with. */
export interface ToolSession {
  readonly upstream: Upstream;
  /** The caller's bearer token. */
  readonly token: string | undefined;
}
