import { type OAuthProviderExtension, oauthProvider } from "@better-auth/oauth-provider";
import { scopes } from "../contract/access/scopes.ts";
import { appTokenPrefix } from "../contract/access/token-format.ts";
import { createRandomToken, hashSha256Hex } from "../lib/crypto/crypto.ts";
import { createId } from "../lib/ids.ts";
import type { ClientDocument, ClientDocuments } from "./client-documents.ts";
import { isDocumentAddress } from "./client-documents.ts";
import { appIdleDays, appTokenMinutes, consentMinutes } from "./limits.ts";

/** The scope with which a client gets refresh tokens (OpenID Core, section 11). */
export const offlineScope = "offline_access";
/** Where the library sends a browser for signing in and for consent. The routes take over from there. */
export const libraryPages = { signIn: "/sign-in", consent: "/connect" } as const;
/** Marks stored clients whose id is the address of their metadata document. */
export const documentClients = "document";

const minuteSeconds = 60;
const daySeconds = 24 * 60 * minuteSeconds;

type ClientDiscovery = Extract<OAuthProviderExtension["clientDiscovery"], { readonly id: string }>;
export type StoredClient = NonNullable<Awaited<ReturnType<ClientDiscovery["resolve"]>>>;

/** Creates the authorization server for one address of MCP. Its tokens are opaque, so that they can be revoked at once. */
export function createOAuthProvider(resource: string, documents: ClientDocuments): { readonly id: "oauth-provider" } {
  return oauthProvider({
    scopes: [...scopes, offlineScope],
    resources: [resource],
    // Every client may ask for a token for MCP, which is all that there is.
    enforcePerClientResources: false,
    disableJwtPlugin: true,
    grantTypes: ["authorization_code", "refresh_token"],
    allowDynamicClientRegistration: true,
    allowUnauthenticatedClientRegistration: true,
    loginPage: libraryPages.signIn,
    consentPage: libraryPages.consent,
    codeExpiresIn: consentMinutes * minuteSeconds,
    accessTokenExpiresIn: appTokenMinutes * minuteSeconds,
    refreshTokenExpiresIn: appIdleDays * daySeconds,
    storeTokens: { hash: async (token) => hashSha256Hex(token) },
    generateClientId: () => createId("ocl"),
    generateClientSecret: createRandomToken,
    generateOpaqueAccessToken: () => `${appTokenPrefix}${createRandomToken()}`,
    generateRefreshToken: createRandomToken,
    extensions: [{ clientDiscovery: createDiscovery(documents) }],
    schema: {
      oauthClient: { modelName: "oauthClients" },
      oauthResource: { modelName: "oauthResources" },
      oauthClientResource: { modelName: "oauthClientResources" },
      oauthRefreshToken: { modelName: "oauthRefreshTokens" },
      oauthAccessToken: { modelName: "oauthAccessTokens" },
      oauthConsent: { modelName: "oauthConsents" },
      oauthClientAssertion: { modelName: "oauthClientAssertions" },
    },
  });
}

/** Finds clients by their documents, which are loaded before the library is called. */
function createDiscovery(documents: ClientDocuments): ClientDiscovery {
  return {
    id: documentClients,
    matches: isDocumentAddress,
    resolve(_, clientId, stored) {
      const document = documents.find(clientId);
      // Without its document, only a client that a person has already connected.
      return document ? { ...stored, ...toStoredClient(document) } : stored;
    },
  };
}

/** Returns a client as it is stored once a person connects it. */
export function toStoredClient({ client_id, client_name, redirect_uris }: ClientDocument): StoredClient {
  return {
    clientId: client_id,
    clientDiscoveryId: documentClients,
    name: client_name ?? new URL(client_id).hostname,
    redirectUris: redirect_uris,
    tokenEndpointAuthMethod: "none",
    grantTypes: ["authorization_code", "refresh_token"],
    responseTypes: ["code"],
    requirePKCE: true,
    scopes: [...scopes, offlineScope],
  };
}
