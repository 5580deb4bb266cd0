import { getOAuthProtectedResourceMetadataUrl } from "@modelcontextprotocol/server";
import type { Scope } from "../../contract/scopes.ts";

export interface OAuthOptions {
  /** Address of MCP, as clients reach it. */
  readonly resource: string;
  readonly issuer: string;
  /** The scopes that what is offered here needs. */
  readonly scopes: readonly Scope[];
}

/** MCP as a resource that an authorization server issues tokens for (RFC 9728). */
export interface ProtectedResource {
  /** Address of the document. */
  readonly metadataUrl: string;
  /** Paths at which the document is served. */
  readonly paths: readonly string[];
  readonly document: Readonly<Record<string, unknown>>;
  /** What a client without a token is told to ask for. */
  readonly scopes: readonly Scope[];
}

const root = "/.well-known/oauth-protected-resource";

export function createProtectedResource({ resource, issuer, scopes }: OAuthOptions): ProtectedResource {
  const metadataUrl = getOAuthProtectedResourceMetadataUrl(new URL(resource));
  return {
    metadataUrl,
    // At its own address, and where clients look that know the server alone, with or without a proxy's path before it.
    paths: [...new Set([root, `${root}/mcp`, new URL(metadataUrl).pathname])],
    document: {
      resource,
      authorization_servers: [issuer],
      scopes_supported: scopes,
      bearer_methods_supported: ["header"],
      resource_name: "Programme",
    },
    scopes,
  };
}
