import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import OpenIdProvider from "oidc-provider";
import { onTestFinished, vi } from "vitest";
import { followRedirects } from "./follow-redirects.ts";

/** The claims of the provider about the person who signs in there. */
export interface ProviderClaims {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: unknown;
  readonly name?: string;
  readonly [claim: string]: unknown;
}

/** An OpenID Connect provider of the tests' own. */
export interface TestProvider {
  readonly issuer: string;
  /** Begins to answer, for one client with this redirect address. */
  start(redirectUri: string): void;
  /** Signs a person in. Returns the address to which the provider then sends the browser. */
  signIn(url: string, claims: ProviderClaims): Promise<string>;
}

export const providerClient = { clientId: "programme", clientSecret: "secret" };

/** Listens on this machine; each request fails until `start`. It ends with the test. */
export async function openProvider(): Promise<TestProvider> {
  // The library warns of defaults that only matter in production.
  for (const method of ["info", "warn"] as const) vi.spyOn(console, method).mockReturnValue();
  let answer: ReturnType<OpenIdProvider["callback"]> | undefined;
  const server = createServer((request, response) =>
    answer ? void answer(request, response) : response.writeHead(503).end(),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    vi.restoreAllMocks();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, ProviderClaims>();
  return {
    issuer,
    start(redirectUri) {
      answer = createProvider(issuer, redirectUri, people).callback();
    },
    async signIn(url, claims) {
      people.set(claims.sub, claims);
      // The hint names the person to the provider, which asks for nothing else.
      return followRedirects(`${url}&login_hint=${claims.sub}`, (address) => !address.startsWith(issuer));
    },
  };
}

function createProvider(issuer: string, redirectUri: string, people: ReadonlyMap<string, ProviderClaims>) {
  const { clientId, clientSecret } = providerClient;
  const provider = new OpenIdProvider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "role", "businessId"] },
    cookies: { keys: ["a key of the tests"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, accountId) => ({ accountId, claims: () => people.get(accountId) ?? { sub: accountId } }),
    async loadExistingGrant({ oidc: { account, client } }) {
      const grant = new provider.Grant({ accountId: account?.accountId, clientId: client?.clientId });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, next) => {
    if (!context.path.startsWith("/interaction/")) return next();
    const { params } = await provider.interactionDetails(context.req, context.res);
    const login = { accountId: String(params["login_hint"]) };
    await provider.interactionFinished(context.req, context.res, { login });
    context.respond = false;
  });
  return provider;
}
