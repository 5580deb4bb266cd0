import type { Problem } from "../../contract/errors.ts";

/** The token of an `Authorization: Bearer` header (RFC 6750), if it is one. */
export function parseBearer(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/** Where a client without a good token is sent for one (RFC 9728), and what it is told to ask for there. */
export interface AuthChallenge {
  readonly metadataUrl: string;
  readonly scopes: readonly string[];
}

/** The `WWW-Authenticate` header that a refusal carries (RFC 6750 section 3), as a header map. */
export function createChallengeHeader(
  { code, details }: Problem,
  authChallenge?: AuthChallenge,
): Record<string, string> {
  const wanted = authChallenge?.scopes ?? [];
  switch (code) {
    case "unauthorized":
      return formatChallenge({ scope: wanted, resource_metadata: authChallenge?.metadataUrl });
    case "invalid_token":
      return formatChallenge({ error: code, scope: wanted, resource_metadata: authChallenge?.metadataUrl });
    case "insufficient_scope": {
      const required = details?.["requiredScopes"];
      const scope = Array.isArray(required) ? required.map(String) : [];
      return formatChallenge({ error: code, scope, resource_metadata: authChallenge?.metadataUrl });
    }
    default:
      return {};
  }
}

/** What is empty is left out; none of the values can hold a quotation mark or a backslash. */
function formatChallenge(parameters: Readonly<Record<string, string | readonly string[] | undefined>>) {
  const given = Object.entries(parameters).flatMap(([name, value = []]) => {
    const text = [value].flat().join(" ");
    return text === "" ? [] : [`${name}="${text}"`];
  });
  return { "www-authenticate": ["Bearer", given.join(", ")].join(" ").trimEnd() };
}
