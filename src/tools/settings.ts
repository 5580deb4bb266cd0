import type { Privacy } from "../contract/access/privacy.ts";
import type { ToolMode } from "../contract/definition/tool-mode.ts";
import type { CallName, Toolset } from "../contract/index.ts";

/** Settings of an installation that decide which tools are offered and how they respond. */
export interface ToolSettings {
  /** Only tools of these nouns and those in `tools` are offered; all tools if neither is set. */
  readonly toolsets: readonly Toolset[] | undefined;
  readonly tools: readonly CallName[] | undefined;
  /** Only tools that change nothing are offered, whatever else is set. */
  readonly readOnly: boolean;
  readonly toolMode: ToolMode;
  /** The form of results: text for the model, structured content, or both. */
  readonly results: "both" | "text" | "structured";
  /** Most bytes of JSON in the data of one result. */
  readonly resultBytes: number;
  readonly privacy: Privacy;
  /** True if this server has events, of the embedded service or from webhooks. */
  readonly hasEvents: boolean;
  /** Longest time that `create_export` with `wait` waits. */
  readonly exportWaitSeconds: number;
}
