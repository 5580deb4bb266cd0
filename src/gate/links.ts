import type { File } from "../contract/files.ts";
import type { Clock } from "../lib/clock.ts";
import { constantTimeEqual, hmac } from "../lib/crypto.ts";
import type { Store } from "../store/port.ts";
import type { Links } from "../store/work.ts";

/** The query of a signed link. */
interface SignedQuery {
  readonly business?: string;
  readonly expires?: string;
  readonly signature?: string;
}

export interface SignedLinks extends Links {
  /** The file that a link leads to, unless the link is altered, expired or foreign. */
  verifyFile(fileId: string, query: SignedQuery): Promise<File | undefined>;
}

/** Links that need no token: signed with a key of this installation, for one file and a short time. */
export function createLinks(store: Store, clock: Clock, origin: () => Promise<string>): SignedLinks {
  async function sign(businessId: string, fileId: string, expires: string): Promise<string> {
    const key = await store.secret("links");
    return hmac(key, JSON.stringify(["file", businessId, fileId, expires])).toString("base64url");
  }

  return {
    async file(businessId, fileId, expiresAt) {
      const expires = String(Math.floor(Date.parse(expiresAt) / 1000));
      const signature = await sign(businessId, fileId, expires);
      const query = new URLSearchParams({ business: businessId, expires, signature });
      return `${await origin()}/files/${encodeURIComponent(fileId)}?${query}`;
    },

    async invitation(secret) {
      return `${await origin()}/invitations/${encodeURIComponent(secret)}`;
    },

    async verifyFile(fileId, { business = "", expires = "", signature = "" }) {
      const expected = await sign(business, fileId, expires);
      if (!constantTimeEqual(signature, expected) || Number(expires) * 1000 <= clock.now().getTime()) return undefined;
      return store.reader(business).get("files", fileId);
    },
  };
}
