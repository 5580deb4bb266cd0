import type { Problem } from "../contract/errors.ts";

/** The token of an `Authorization: Bearer` header (RFC 6750), if it is one. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/** The `WWW-Authenticate` header that a refusal carries (RFC 6750 section 3), as a header map. */
export function challengeOf({ code, details }: Problem): Record<string, string> {
  switch (code) {
    case "unauthorized":
      return { "www-authenticate": "Bearer" };
    case "invalid_token":
      return { "www-authenticate": 'Bearer error="invalid_token"' };
    case "insufficient_scope": {
      const required = details?.["requiredScopes"];
      const scope = Array.isArray(required) ? required.join(" ") : "";
      return { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` };
    }
    default:
      return {};
  }
}
