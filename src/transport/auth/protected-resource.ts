import { getOAuthProtectedResourceMetadataUrl } from "@modelcontextprotocol/server";
import type { Scope } from "../../contract/access/scopes.ts";

export interface OAuthOptions {
  /** The address at which clients reach MCP. */
  readonly resource: string;
  readonly issuer: string;
  /** The scopes that the offered tools need. */
  readonly scopes: readonly Scope[];
  /** The text before the names of scopes at the issuer. */
  readonly scopePrefix?: string;
}

/** The metadata of MCP as a protected resource (RFC 9728). */
export interface ProtectedResource {
  /** The address of the document. */
  readonly metadataUrl: string;
  /** Paths at which the document is served. */
  readonly paths: readonly string[];
  readonly document: Readonly<Record<string, unknown>>;
  /** The scopes that a client without a token should ask for. */
  readonly scopes: readonly Scope[];
  readonly scopePrefix: string;
}

/** Returns the metadata for a client that reaches this server at an origin. */
export type FindResource = (origin: string) => ProtectedResource;

const root = "/.well-known/oauth-protected-resource";

export function createProtectedResource(options: OAuthOptions): ProtectedResource {
  const { resource, issuer, scopes, scopePrefix = "" } = options;
  const metadataUrl = getOAuthProtectedResourceMetadataUrl(new URL(resource));
  return {
    metadataUrl,
    // Also where clients look that know only the server's address, with or without the path of a proxy.
    paths: [...new Set([root, `${root}/mcp`, new URL(metadataUrl).pathname])],
    document: {
      resource,
      authorization_servers: [issuer],
      scopes_supported: scopes.map((scope) => scopePrefix + scope),
      bearer_methods_supported: ["header"],
      resource_name: "Programme",
    },
    scopes,
    scopePrefix,
  };
}
