import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import OpenIdProvider from "oidc-provider";
import { onTestFinished, vi } from "vitest";

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
      const cookies = new Map<string, string>();
      // The hint names the person to the provider, which asks for nothing else.
      for (let next = `${url}&login_hint=${claims.sub}`; ; ) {
        if (!next.startsWith(issuer)) return next;
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
        const response = await fetch(next, { redirect: "manual", headers: { cookie } });
        for (const line of response.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          cookies.set(name, value);
        }
        const location = response.headers.get("location");
        if (location === null) throw new Error(`The provider answered ${response.status}: ${await response.text()}`);
        next = new URL(location, next).href;
      }
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
