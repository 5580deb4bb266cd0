import { CLIENT_CAPABILITIES_META_KEY, type ClientCapabilities } from "@modelcontextprotocol/server";
import type { ToolContext } from "../tools/session.ts";
import type { ToolSettings } from "../tools/settings.ts";
import { canShowViews } from "../views/catalog.ts";

/**
 * Returns whether a request's client shows views. They show structured content, so there are none if results are text.
 * @param negotiated - the capabilities of a 2025-era client. Requests of 2026-07-28 state theirs.
 */
export function canClientShowViews(
  { results }: Pick<ToolSettings, "results">,
  { envelope }: { readonly envelope?: ToolContext["mcpReq"]["envelope"] },
  negotiated: ClientCapabilities | undefined,
): boolean {
  if (results === "text") return false;
  const stated = envelope?.[CLIENT_CAPABILITIES_META_KEY as keyof typeof envelope] as ClientCapabilities | undefined;
  return canShowViews(envelope ? stated : negotiated);
}
