import type { UpstreamCall } from "../../upstream/port.ts";

/** A write with its complete arguments. */
export interface ResolvedWrite {
  readonly call: UpstreamCall;
  /** The arguments that a confirmation is bound to, as given. What they select is bound by the dry run's digest. */
  readonly given: unknown;
  /** Sentences about what the arguments select, which the question shows. */
  readonly lines: readonly string[];
  /** The update of a merge's survivor that follows the merge, without its version. */
  readonly keptFields?: { readonly names: readonly string[]; readonly input: Readonly<Record<string, unknown>> };
}
