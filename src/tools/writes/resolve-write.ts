import type { Failure, UpstreamCall } from "../../upstream/port.ts";
import type { ToolOptionValues } from "../catalog/tool-options.ts";
import type { ToolData } from "../results/read.ts";
import type { ToolSession } from "../session.ts";
import { resolveKeptFields } from "./keep-fields.ts";
import { resolveTarget } from "./resolve-target.ts";
import type { ResolvedWrite } from "./resolved-write.ts";

/**
 * Resolves what a write's arguments select by a query.
 * @returns the answer if the query selects nothing
 */
export async function resolveWrite(
  session: ToolSession,
  { call, options }: { readonly call: UpstreamCall; readonly options: ToolOptionValues },
): Promise<ResolvedWrite | ToolData | Failure> {
  const { target, keep } = options;
  if (keep) return resolveKeptFields(session, call, keep);
  if (!target) return { call, given: call.input, lines: [] };
  const resolved = await resolveTarget(session, call, target);
  if (!resolved.ok) return resolved;
  const { input, lines, emptyData } = resolved;
  if (emptyData !== undefined) return { ok: true, data: emptyData, notes: ["Nothing was done.", ...lines] };
  return { call: { ...call, input }, given: { ...call.input, target }, lines };
}
