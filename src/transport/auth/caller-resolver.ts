import { gatewayKeyPattern } from "../../contract/access/gateway-keys.ts";
import { type Scope, scopes } from "../../contract/access/scopes.ts";
import { problem } from "../../contract/errors.ts";
import { hashSha256Hex } from "../../lib/crypto/crypto.ts";
import type { Grant, ResolveGrant } from "../../upstream/gateway.ts";
import type { GatewayKeys } from "./gateway-keys.ts";
import type { Claims, TokenVerifier } from "./oauth-token-verifier.ts";

export interface CallerResolverDeps {
  readonly keys: GatewayKeys | undefined;
  readonly issuer: TokenVerifier | undefined;
  /** The product token for callers with a token of the issuer whose subject no entry names. */
  readonly token: string | undefined;
}

const allScopes: ReadonlySet<Scope> = new Set(scopes);

/**
 * Resolves callers of MCP over HTTP who hold no product token: by an operator's gateway key, or by an access token of the
 * issuer. Anything else is refused, also a product token.
 */
export function createCallerResolver({ keys, issuer, token }: CallerResolverDeps): ResolveGrant {
  function createKeyGrant(key: string): Grant {
    const holder = keys?.holderOf(key);
    if (!holder) throw problem("invalid_token");
    return { ...holder, caller: toOpaqueId("key", holder.name) };
  }

  function createSubjectGrant({ subject, client, scopes: given }: Claims): Grant {
    const caller = toOpaqueId("oauth", subject, client ?? "");
    const holder = keys?.subject(subject);
    if (holder) {
      const allowed = holder.scopes ?? allScopes;
      return { ...holder, caller, scopes: given.intersection(allowed), attainable: allowed };
    }
    // If the file names subjects, it names all that are allowed.
    if (token === undefined || keys?.namesSubjects) throw problem("gateway_not_admitted");
    return { name: `oauth:${caller.slice(0, 12)}`, token, caller, scopes: given, attainable: allScopes };
  }

  return async (presented) => {
    if (presented === undefined || presented === "") throw problem("unauthorized");
    if (keys && gatewayKeyPattern.test(presented)) return createKeyGrant(presented);
    if (issuer && presented.split(".").length === 3) return createSubjectGrant(await issuer.verify(presented));
    throw problem("invalid_token");
  };
}

function toOpaqueId(...parts: readonly string[]): string {
  return hashSha256Hex(JSON.stringify(parts));
}
