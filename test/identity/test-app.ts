import {
  Client,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import type { BrowserSession, PageAnswer } from "./browser-session.ts";

/** Where the app's browser returns to. Nothing listens there: the test reads the address. */
export const callback = "http://127.0.0.1:33418/callback";

/** An app that connects with the official client, and keeps its tokens in memory. */
export class TestApp implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadataUrl?: string;
  readonly clientMetadata: OAuthClientMetadata;
  information: StoredOAuthClientInformation | undefined;
  stored: StoredOAuthTokens | undefined;
  /** Where the app has sent the browser. */
  authorizationUrl: URL | undefined;
  #verifier = "";
  #discovered: OAuthDiscoveryState | undefined;

  constructor({ redirectUrl = callback, documentUrl }: { redirectUrl?: string; documentUrl?: string } = {}) {
    this.redirectUrl = redirectUrl;
    if (documentUrl !== undefined) this.clientMetadataUrl = documentUrl;
    this.clientMetadata = {
      client_name: "Test <b>app</b>",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
    };
  }

  state = () => "state-of-the-app";
  clientInformation = () => this.information;
  saveClientInformation(information: StoredOAuthClientInformation) {
    this.information = information;
  }
  tokens = () => this.stored;
  saveTokens(tokens: StoredOAuthTokens) {
    this.stored = tokens;
  }
  redirectToAuthorization(address: URL) {
    this.authorizationUrl = address;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier = () => this.#verifier;
  saveDiscoveryState(state: OAuthDiscoveryState) {
    this.#discovered = state;
  }
  discoveryState = () => this.#discovered;

  /** Connects, and lets `allow` open the address at which the person signs in and allows. It returns the answer's address. */
  async connect(origin: string, allow: (authorizationUrl: URL) => Promise<URL>): Promise<Client> {
    const open = () => new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { authProvider: this });
    const first = open();
    const client = new Client({ name: "test-app", version: "1" });
    try {
      await client.connect(first);
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || !this.authorizationUrl) throw error;
      const answer = await allow(this.authorizationUrl);
      await first.finishAuth(answer.searchParams);
      await client.connect(open());
    }
    onTestFinished(() => client.close());
    return client;
  }
}

/** Opens the address at which an app asks, signed in, and returns the page of consent. */
export async function openConsent(
  browser: BrowserSession,
  authorizationUrl: URL,
): Promise<PageAnswer & { readonly path: string }> {
  const answer = await browser.open(`${authorizationUrl.pathname}${authorizationUrl.search}`);
  const path = answer.headers.get("location") ?? "";
  return { ...(await browser.open(path)), path };
}

/** Allows what an app asks for, and returns where the browser is sent. */
export async function allow(
  browser: BrowserSession,
  authorizationUrl: URL,
  ...groups: readonly string[]
): Promise<URL> {
  const { path } = await openConsent(browser, authorizationUrl);
  return decide(browser, path, groups);
}

export async function decide(
  browser: BrowserSession,
  path: string,
  groups: readonly string[],
  further: readonly [name: string, value: string][] = [],
): Promise<URL> {
  const chosen = groups.map((group): [string, string] => ["group", group]);
  const answer = await browser.submit(path, new URLSearchParams([["decision", "connect"], ...chosen, ...further]));
  const location = answer.headers.get("location");
  if (location === null) throw new Error(`The app was not allowed: ${answer.status} ${answer.text}`);
  return new URL(location);
}
