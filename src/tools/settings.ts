import type { CallName, Toolset } from "../contract/index.ts";
import type { Privacy } from "../contract/privacy.ts";

/** What an installation lets tools do, and how they answer. */
export interface ToolSettings {
  /** Only tools of these nouns, with `tools` beside them; all where neither is given. */
  readonly toolsets: readonly Toolset[] | undefined;
  readonly tools: readonly CallName[] | undefined;
  /** Only tools that change nothing, whatever else is given. */
  readonly readOnly: boolean;
  /** `search` lists three tools that find, describe and call the others. */
  readonly toolMode: "full" | "search";
  /** What a result carries: text for the model, structured content, or both. */
  readonly results: "both" | "text" | "structured";
  /** The most JSON that the data of one result may come to, in bytes. */
  readonly resultBytes: number;
  /** What agents see of people. */
  readonly privacy: Privacy;
  /** Whether events come to this server: the embedded service's own, or those of webhooks. */
  readonly hasEvents: boolean;
  /** How long `create_export` with `wait` waits at most. */
  readonly exportWaitSeconds: number;
}
