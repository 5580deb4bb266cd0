import { LRUCache } from "lru-cache";
import * as z from "zod";
import type { Clock } from "../lib/clock.ts";
import { isLoopback } from "../lib/http/loopback.ts";

/** Fetches a JSON document of a stranger. @throws Error if it cannot be fetched */
export type FetchDocument = (url: string) => Promise<unknown>;

/** The metadata of a client, as far as it is used here (RFC 7591, section 2). */
export type ClientMetadata = z.output<typeof ClientMetadata>;

const maxRedirectUris = 20;

/** An address that a browser may be sent to with a code: of https, of this machine, or of an installed program. */
const RedirectUri = z.string().max(1_000).refine(isRedirectUri, "Expected an https address or one of this machine");

/** Removes controls and marks that reorder text: a name with them could show another host than its own. */
const removeReordering = (name: string) => name.replace(/[\p{Cc}\p{Bidi_Control}]/gu, "");

export const ClientMetadata = z.object({
  client_name: z.string().overwrite(removeReordering).trim().min(1).max(100).optional(),
  redirect_uris: z.array(RedirectUri).min(1).max(maxRedirectUris),
  token_endpoint_auth_method: z.enum(["none", "client_secret_basic", "client_secret_post"]).optional(),
  grant_types: z.array(z.string().max(100)).max(10).optional(),
});

const ClientDocument = ClientMetadata.extend({
  client_id: z.string(),
  // A client that anyone can read the metadata of has no secret.
  token_endpoint_auth_method: z.literal("none").optional(),
});
export type ClientDocument = z.output<typeof ClientDocument>;

/** Client id metadata documents: the id of a client is the address of its metadata. */
export interface ClientDocuments {
  /** Returns a document that was loaded before. */
  find(clientId: string): ClientDocument | undefined;
  /** Returns whether a document must be fetched, or a failure is not old enough to try again. */
  needsFetch(clientId: string): boolean;
  /** Loads a document. A document that cannot be fetched, or is not valid, is not tried again for a while. */
  load(clientId: string): Promise<void>;
}

const maxDocuments = 500;
const keptMs = 60 * 60 * 1000;
const failureKeptMs = 60 * 1000;

interface Held {
  readonly document: ClientDocument | undefined;
  readonly untilMs: number;
}

export function createClientDocuments(fetchDocument: FetchDocument, clock: Clock): ClientDocuments {
  const held = new LRUCache<string, Held>({ max: maxDocuments });
  const loading = new Map<string, Promise<void>>();
  const getHeld = (clientId: string) => {
    const found = held.get(clientId);
    return found && found.untilMs > clock.now().getTime() ? found : undefined;
  };

  async function fetchHeld(clientId: string): Promise<void> {
    const document = await fetchDocument(clientId).then(
      (given) => parseClientDocument(clientId, given),
      () => undefined,
    );
    held.set(clientId, { document, untilMs: clock.now().getTime() + (document ? keptMs : failureKeptMs) });
  }

  return {
    find: (clientId) => getHeld(clientId)?.document,
    needsFetch: (clientId) => isDocumentAddress(clientId) && !getHeld(clientId),
    async load(clientId) {
      const fetching = loading.get(clientId) ?? fetchHeld(clientId).finally(() => loading.delete(clientId));
      loading.set(clientId, fetching);
      await fetching;
    },
  };
}

/** Returns whether a client id is the address of a metadata document: https, with a path, and written in one way only. */
export function isDocumentAddress(clientId: string): boolean {
  const url = clientId.length <= 1_000 ? URL.parse(clientId) : null;
  if (url?.protocol !== "https:" || url.pathname === "/" || url.username !== "" || url.password !== "") return false;
  return url.href === clientId && url.hash === "" && !clientId.includes("#");
}

/** Parses a metadata document, which must name the address that it was fetched from. */
function parseClientDocument(clientId: string, given: unknown): ClientDocument | undefined {
  const document = ClientDocument.safeParse(given).data;
  return document?.client_id === clientId ? document : undefined;
}

function isRedirectUri(address: string): boolean {
  const url = URL.parse(address);
  if (!url || address.includes("#") || url.username !== "" || url.password !== "") return false;
  if (url.protocol === "https:") return true;
  // RFC 8252: a program on the person's machine listens on a port there, or has registered a scheme of its own.
  if (url.protocol === "http:") return isLoopback(url.hostname);
  return /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+:$/.test(url.protocol);
}

/** Returns the type of a client, which decides on the redirect addresses that it may have (OpenID Registration 2). */
export function getApplicationType(redirectUris: readonly string[]): "web" | "native" {
  return redirectUris.every((address) => address.startsWith("https:")) ? "web" : "native";
}
