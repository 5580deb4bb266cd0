import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import OpenIdProvider from "oidc-provider";
import { onTestFinished, vi } from "vitest";
import { followRedirects } from "./follow-redirects.ts";

/** An access token as a product issues it. */
export interface IssuedForm {
  readonly header: { readonly typ: string };
  readonly claims: Readonly<Record<string, unknown>> & { readonly sub: string };
}

export interface ProductIssuer {
  readonly address: string;
  /** Signs the person in, and returns the tokens that a client gets for scopes. */
  issue(scopes: readonly string[]): Promise<{ readonly accessToken: string; readonly idToken: string }>;
}

const redirectUri = "http://127.0.0.1:33418/callback";
const clientId = "ai-client";

/** Opens an `oidc-provider` that issues tokens in the form of a product, at the path of its issuer. It ends with the test. */
export async function openProductIssuer(
  path: string,
  scopes: readonly string[],
  describeForm: (address: string) => IssuedForm,
): Promise<ProductIssuer> {
  // The library warns of defaults that only matter in production.
  for (const method of ["info", "warn"] as const) vi.spyOn(console, method).mockReturnValue();
  const mount = path.replace(/\/$/, "");
  let answer: ReturnType<OpenIdProvider["callback"]> | undefined;
  const server = createServer((request: IncomingMessage & { originalUrl?: string }, response) => {
    const { url = "" } = request;
    if (!answer || !url.startsWith(mount)) return void response.writeHead(404).end();
    request.originalUrl = url;
    request.url = url.slice(mount.length);
    return void answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    vi.restoreAllMocks();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const form = describeForm(address);
  answer = createProvider(address, scopes, form).callback();
  return { address, issue: (asked) => issueTokens(`${new URL(address).origin}${mount}`, asked, form) };
}

function createProvider(address: string, scopes: readonly string[], { header, claims }: IssuedForm): OpenIdProvider {
  const { scope: _, scp: __, azp, client_id: ___, ...fixed } = claims;
  const provider = new OpenIdProvider(address, {
    clients: [{ client_id: clientId, token_endpoint_auth_method: "none", redirect_uris: [redirectUri] }],
    scopes: ["openid", ...scopes],
    cookies: { keys: ["a key of the tests"] },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => "urn:resource",
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: scopes.join(" "), audience: "urn:resource", accessTokenFormat: "jwt" }),
      },
    },
    formats: {
      customizers: {
        // The library takes changes of the parts themselves.
        jwt(_context, _token, parts) {
          const { payload } = parts;
          const { scope, client_id } = payload;
          parts.header = { ...parts.header, typ: header.typ };
          delete payload["scope"];
          delete payload["client_id"];
          Object.assign(payload, fixed, "scp" in claims ? { scp: scope } : { scope });
          Object.assign(payload, azp === undefined ? { client_id } : { azp: client_id });
        },
      },
    },
    interactions: { url: (_, { uid }) => `${new URL(address).pathname.replace(/\/$/, "")}/interaction/${uid}` },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    async loadExistingGrant({ oidc: { account, client } }) {
      const grant = new provider.Grant({ accountId: account?.accountId, clientId: client?.clientId });
      grant.addOIDCScope(["openid", ...scopes].join(" "));
      grant.addResourceScope("urn:resource", scopes.join(" "));
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, next) => {
    if (!context.path.startsWith("/interaction/")) return next();
    await provider.interactionFinished(context.req, context.res, { login: { accountId: claims.sub } });
    context.respond = false;
  });
  return provider;
}

/** Runs the authorization code flow as a browser and a client do. */
async function issueTokens(base: string, scopes: readonly string[], { claims }: IssuedForm) {
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: ["openid", ...scopes].join(" "),
    nonce: "nonce-of-the-client",
    login_hint: claims.sub,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const end = await followRedirects(`${base}/auth?${query}`, (address) => address.startsWith(redirectUri));
  const code = new URL(end).searchParams.get("code") ?? end;
  const form = {
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri,
    client_id: clientId,
    code_verifier: verifier,
  };
  const answer = await fetch(`${base}/token`, { method: "POST", body: new URLSearchParams(form) });
  const body = (await answer.json()) as { access_token: string; id_token: string; error_description?: string };
  if (!answer.ok) throw new Error(`The issuer answered ${answer.status}: ${body.error_description}`);
  return { accessToken: body.access_token, idToken: body.id_token };
}
