import type { IncomingMessage } from "node:http";
import type { Problem } from "../../contract/errors.ts";

/** Returns the token of an `Authorization: Bearer` header (RFC 6750), or undefined for any other header. */
export function parseBearer(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/** Where a client gets a token (RFC 9728), and with which scopes. */
export interface AuthChallenge {
  readonly metadataUrl: string;
  readonly scopes: readonly string[];
  /** The text before the names of scopes where tokens are issued. */
  readonly scopePrefix: string;
}

/** Returns the challenge for a client that reaches this server at an origin. */
export type FindChallenge = (origin: string) => AuthChallenge;

/** Returns the origin by which a request names this server. */
export function getRequestOrigin({ headers }: Pick<IncomingMessage, "headers">): string {
  return URL.parse(`http://${headers.host}`)?.origin ?? "http://localhost";
}

/** Returns the `WWW-Authenticate` header of a refusal (RFC 6750, section 3), as a header map. */
export function createChallengeHeader(
  { code, details }: Problem,
  authChallenge?: AuthChallenge,
): Record<string, string> {
  const format = (scopes: readonly unknown[]) => scopes.map((scope) => `${authChallenge?.scopePrefix ?? ""}${scope}`);
  const wanted = format(authChallenge?.scopes ?? []);
  switch (code) {
    case "unauthorized":
      return formatChallenge({ scope: wanted, resource_metadata: authChallenge?.metadataUrl });
    case "invalid_token":
      return formatChallenge({ error: code, scope: wanted, resource_metadata: authChallenge?.metadataUrl });
    case "insufficient_scope": {
      const required = details?.["requiredScopes"];
      const scope = Array.isArray(required) ? format(required) : [];
      return formatChallenge({ error: code, scope, resource_metadata: authChallenge?.metadataUrl });
    }
    default:
      return {};
  }
}

/** Formats a Bearer challenge without empty parameters. No value can contain a quotation mark or a backslash. */
function formatChallenge(parameters: Readonly<Record<string, string | readonly string[] | undefined>>) {
  const given = Object.entries(parameters).flatMap(([name, value = []]) => {
    const text = [value].flat().join(" ");
    return text === "" ? [] : [`${name}="${text}"`];
  });
  return { "www-authenticate": ["Bearer", given.join(", ")].join(" ").trimEnd() };
}
