import type { Setting } from "./setting.ts";
import { createPatternType, createTextType, filePath, issuerUrl, serviceUrl } from "./values.ts";

const listening = ["http"] as const;

/** The characters of scopes (RFC 6749, appendix A.4). */
const scopePrefix = createPatternType(
  /^[\x21\x23-\x5b\x5d-\x7e]+$/,
  "text without spaces, quotation marks and backslashes",
);

/** Settings for callers of MCP over HTTP that have no access token of their own. */
export const gatewaySettings = {
  gatewayKeys: {
    variable: "PROGRAMME_GATEWAY_KEYS",
    group: "Callers of MCP",
    option: "--gateway-keys <file>",
    type: filePath,
    defaultText: "none: callers of MCP present access tokens of the service",
    help: "A JSON file of the callers that may use MCP over HTTP, with the access token of each and the scopes that each may use. Callers are known by keys from `gateway-key create`, or as subjects of `PROGRAMME_OAUTH_ISSUER`. Only its owner may have rights to the file. Changes take effect within a second, and at once on SIGHUP; an invalid file changes nothing.",
    commands: listening,
  },
  oauthIssuer: {
    variable: "PROGRAMME_OAUTH_ISSUER",
    group: "Callers of MCP",
    option: "--oauth-issuer <address>",
    type: issuerUrl,
    defaultText: "none",
    help: "The OAuth 2.1 authorization server whose access tokens (signed JWTs) MCP over HTTP accepts, exactly as they name it in `iss`. Their `scope` grants the scopes of the service that it names. A call uses the access token of the `PROGRAMME_GATEWAY_KEYS` entry for its subject, or `PROGRAMME_TOKEN` if no entry names a subject. Needs `PROGRAMME_PUBLIC_URL`.",
    commands: listening,
  },
  oauthAudience: {
    variable: "PROGRAMME_OAUTH_AUDIENCE",
    group: "Callers of MCP",
    option: "--oauth-audience <identifier>",
    type: createTextType("what tokens name in aud"),
    defaultText: "the address of MCP: `PROGRAMME_PUBLIC_URL` with `/mcp`",
    help: "The value that tokens of `PROGRAMME_OAUTH_ISSUER` must have in `aud`, if the issuer does not use this server's address.",
    commands: listening,
  },
  oauthScopePrefix: {
    variable: "PROGRAMME_OAUTH_SCOPE_PREFIX",
    group: "Callers of MCP",
    option: "--oauth-scope-prefix <text>",
    type: scopePrefix,
    defaultText: "none",
    help: "The text that `PROGRAMME_OAUTH_ISSUER` has before the names of this server's scopes, as in `api://calls/` for `api://calls/programs:read`. The metadata and challenges name scopes with it; tokens may name them with or without it.",
    commands: listening,
  },
  oauthJwksUri: {
    variable: "PROGRAMME_OAUTH_JWKS_URI",
    group: "Callers of MCP",
    option: "--oauth-jwks-uri <address>",
    type: serviceUrl,
    defaultText: "looked up in the metadata of `PROGRAMME_OAUTH_ISSUER`",
    secret: true,
    help: "The address of the public keys of `PROGRAMME_OAUTH_ISSUER`.",
    commands: listening,
  },
} as const satisfies Record<string, Setting>;
