import type { ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import { findView, getViewUri, viewMimeType, views } from "../views/catalog.ts";
import { readView } from "../views/read-view.ts";
import { icons } from "./icons.ts";

/** The time for which a client may cache a view, which changes only with the server's version. */
const viewTtlMs = 60 * 60_000;

/** The hosts' content policies: a view needs no address at all. */
const _meta = { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } };

/** Lists the views as resources. */
export function listViews(): Resource[] {
  return views.map((view) => {
    const { name, title, description } = view;
    return { uri: getViewUri(view), name, title, description, mimeType: viewMimeType, icons, _meta };
  });
}

/** Reads a view. Returns `undefined` for the URI of anything else. */
export async function readViewResource(uri: string): Promise<ReadResourceResult | undefined> {
  const view = findView(uri);
  if (!view) return undefined;
  return { contents: [{ uri, mimeType: viewMimeType, text: await readView(view), _meta }], ttlMs: viewTtlMs };
}
