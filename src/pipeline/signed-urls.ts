import type { Clock } from "../lib/clock.ts";
import { computeHmac, equalsInConstantTime } from "../lib/crypto/crypto.ts";
import type { Links } from "../store/handler-context.ts";
import type { Store } from "../store/port.ts";

/** The kinds of downloads, and the path below which each is served. */
export const linkPaths = { file: "files", export: "exports" } as const;
export type LinkKind = keyof typeof linkPaths;

/** A parsed link to a download. */
export interface SignedUrl {
  readonly kind: LinkKind;
  readonly id: string;
  readonly query: {
    readonly business?: string;
    readonly expires?: string;
    readonly signature?: string;
  };
}

export interface LinkVerifier {
  /** Returns whose record a link leads to; nothing if it is altered, expired or of another kind. */
  verify(link: SignedUrl): Promise<{ readonly businessId: string } | undefined>;
}

type LinkKeys = Pick<Store, "secret">;

/** Creates links that need no token: each is signed for one record of one kind, and for a short time. */
export function createSignedUrls(store: LinkKeys, origin: () => Promise<string>): Links {
  async function createUrl(kind: LinkKind, businessId: string, id: string, expiresAt: string): Promise<string> {
    const expires = String(Math.floor(Date.parse(expiresAt) / 1000));
    const signature = await computeSignature(store, kind, businessId, id, expires);
    const query = new URLSearchParams({ business: businessId, expires, signature });
    return `${await origin()}/${linkPaths[kind]}/${encodeURIComponent(id)}?${query}`;
  }

  return {
    file: (businessId, fileId, expiresAt) => createUrl("file", businessId, fileId, expiresAt),
    export: (businessId, exportId, expiresAt) => createUrl("export", businessId, exportId, expiresAt),

    async invitation(secret) {
      return `${await origin()}/invitations/${encodeURIComponent(secret)}`;
    },
  };
}

export function createLinkVerifier(store: LinkKeys, clock: Clock): LinkVerifier {
  return {
    async verify({ kind, id, query: { business = "", expires = "", signature = "" } }) {
      const expected = await computeSignature(store, kind, business, id, expires);
      // Compared first and in constant time: the answer reveals nothing about a link that was not issued here.
      if (!equalsInConstantTime(signature, expected)) return undefined;
      return Number(expires) * 1000 > clock.now().getTime() ? { businessId: business } : undefined;
    },
  };
}

/** Signs with the installation's key for links. */
async function computeSignature(store: LinkKeys, kind: LinkKind, businessId: string, id: string, expires: string) {
  const key = await store.secret("links");
  return computeHmac(key, JSON.stringify([kind, businessId, id, expires])).toString("base64url");
}
