import type { Setting } from "./setting.ts";
import { createTextType, filePath, issuerUrl, serviceUrl } from "./values.ts";

const listening = ["http"] as const;

/** Who may call MCP over HTTP without a product token of their own. */
export const gatewaySettings = {
  gatewayKeys: {
    variable: "PROGRAMME_GATEWAY_KEYS",
    group: "Callers of MCP",
    option: "--gateway-keys <file>",
    type: filePath,
    defaultText: "none: callers of MCP present access tokens of the service themselves",
    help: "A JSON file of the callers that are let in to MCP over HTTP, by keys that `gateway-key create` makes or as subjects of `PROGRAMME_OAUTH_ISSUER`, with the access token that each stands for and the scopes of it that each may use. Nobody but its owner may have rights to it. Changes count within a second, and at once on SIGHUP; a file that is unfit changes nothing.",
    commands: listening,
  },
  oauthIssuer: {
    variable: "PROGRAMME_OAUTH_ISSUER",
    group: "Callers of MCP",
    option: "--oauth-issuer <address>",
    type: issuerUrl,
    defaultText: "none",
    help: "The OAuth 2.1 authorization server whose access tokens (signed JWTs) are taken at MCP over HTTP, exactly as they name it in `iss`. Their `scope` counts as far as it names scopes of the service; they run as the access token of the `PROGRAMME_GATEWAY_KEYS` entry of their subject, or, where no entry names a subject, as `PROGRAMME_TOKEN`. Needs `PROGRAMME_PUBLIC_URL`.",
    commands: listening,
  },
  oauthAudience: {
    variable: "PROGRAMME_OAUTH_AUDIENCE",
    group: "Callers of MCP",
    option: "--oauth-audience <identifier>",
    type: createTextType("what tokens name in aud"),
    defaultText: "the address of MCP: `PROGRAMME_PUBLIC_URL` with `/mcp`",
    help: "What tokens of `PROGRAMME_OAUTH_ISSUER` must name in `aud`, for an issuer that does not name this server by its address.",
    commands: listening,
  },
  oauthJwksUri: {
    variable: "PROGRAMME_OAUTH_JWKS_URI",
    group: "Callers of MCP",
    option: "--oauth-jwks-uri <address>",
    type: serviceUrl,
    defaultText: "looked up in the metadata of `PROGRAMME_OAUTH_ISSUER`",
    secret: true,
    help: "Where the public keys of `PROGRAMME_OAUTH_ISSUER` are.",
    commands: listening,
  },
} as const satisfies Record<string, Setting>;
