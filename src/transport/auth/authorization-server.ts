import { scopes } from "../../contract/access/scopes.ts";
import { authPath } from "../../identity/limits.ts";

/** Paths of the endpoints of the built-in authorization server. */
export const oauthPaths = {
  authorize: `${authPath}/oauth2/authorize`,
  token: `${authPath}/oauth2/token`,
  register: `${authPath}/oauth2/register`,
  revoke: `${authPath}/oauth2/revoke`,
} as const;

/** Paths of its metadata: where RFC 8414, section 3, puts it for an issuer with a path, and where some clients look. */
export const issuerMetadataPaths = [
  `/.well-known/oauth-authorization-server${authPath}`,
  `${authPath}/.well-known/oauth-authorization-server`,
] as const;

/** Returns the issuer of the built-in authorization server. */
export function getIssuer(origin: string): string {
  return `${origin}${authPath}`;
}

/**
 * Describes the built-in authorization server (RFC 8414), without loading it.
 * @param canLoadDocuments - otherwise, apps with a metadata document are to register
 */
export function createIssuerMetadata(origin: string, canLoadDocuments: boolean) {
  const authMethods = ["none", "client_secret_basic", "client_secret_post"];
  return {
    issuer: getIssuer(origin),
    authorization_endpoint: `${origin}${oauthPaths.authorize}`,
    token_endpoint: `${origin}${oauthPaths.token}`,
    registration_endpoint: `${origin}${oauthPaths.register}`,
    revocation_endpoint: `${origin}${oauthPaths.revoke}`,
    scopes_supported: [...scopes, "offline_access"],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint_auth_methods_supported: authMethods,
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: canLoadDocuments,
  };
}
