import type { Clock } from "../lib/clock.ts";
import { computeHmac, equalsInConstantTime } from "../lib/crypto/crypto.ts";
import type { Links } from "../store/handler-context.ts";
import type { Store } from "../store/port.ts";

/** Kinds of downloads, and below which path each is served. */
export const linkPaths = { file: "files", export: "exports" } as const;
export type LinkKind = keyof typeof linkPaths;

/** A signed link taken apart. */
export interface SignedUrl {
  readonly kind: LinkKind;
  readonly id: string;
  readonly query: {
    readonly business?: string;
    readonly expires?: string;
    readonly signature?: string;
  };
}

export interface SignedUrls extends Links {
  /** Whose record a link leads to, unless the link is altered, expired or of another kind. */
  verify(link: SignedUrl): Promise<{ readonly businessId: string } | undefined>;
}

/** Links that need no token: signed with a key of this installation, for one record of one kind and a short time. */
export function createSignedUrls(store: Store, clock: Clock, origin: () => Promise<string>): SignedUrls {
  async function sign(kind: LinkKind, businessId: string, id: string, expires: string): Promise<string> {
    const key = await store.secret("links");
    return computeHmac(key, JSON.stringify([kind, businessId, id, expires])).toString("base64url");
  }

  async function createUrl(kind: LinkKind, businessId: string, id: string, expiresAt: string): Promise<string> {
    const expires = String(Math.floor(Date.parse(expiresAt) / 1000));
    const signature = await sign(kind, businessId, id, expires);
    const query = new URLSearchParams({ business: businessId, expires, signature });
    return `${await origin()}/${linkPaths[kind]}/${encodeURIComponent(id)}?${query}`;
  }

  return {
    file: (businessId, fileId, expiresAt) => createUrl("file", businessId, fileId, expiresAt),
    export: (businessId, exportId, expiresAt) => createUrl("export", businessId, exportId, expiresAt),

    async invitation(secret) {
      return `${await origin()}/invitations/${encodeURIComponent(secret)}`;
    },

    async verify({ kind, id, query: { business = "", expires = "", signature = "" } }) {
      const expected = await sign(kind, business, id, expires);
      // Compared first and in constant time: an answer tells nothing of a link that was not given out here.
      if (!equalsInConstantTime(signature, expected)) return undefined;
      return Number(expires) * 1000 > clock.now().getTime() ? { businessId: business } : undefined;
    },
  };
}
