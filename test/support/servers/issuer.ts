import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import { onTestFinished } from "vitest";
import type { TestClock } from "./test-server.ts";

interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

interface SignOptions {
  readonly key?: SigningKey;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Seconds until the token expires; negative for one that has. */
  readonly lastsSeconds?: number;
}

/** An authorization server of the tests' own, with real keys. */
export interface TestIssuer {
  /** `iss` of its tokens. */
  readonly address: string;
  /** Paths that were asked for, in order. */
  readonly requestedPaths: string[];
  /** The requests of clients at the token endpoint, in order. */
  readonly requests: { readonly scope: string; readonly resource: string | null }[];
  /** The most that its human has agreed to give a client; everything without. */
  consent: readonly string[] | undefined;
  readonly client: { readonly clientId: string; readonly clientSecret: string };
  /** Further members of its metadata, or other values. */
  metadata: Record<string, unknown>;
  /** The answer instead of its keys. */
  keyText: string | undefined;
  /** The answer while it is out of order. */
  fault: number | "hang" | undefined;
  readonly key: SigningKey;
  /** Signs with a new key from now on; the old one is kept beside it, or withdrawn. */
  rotate(options?: { withdraw?: boolean; alg?: string }): Promise<SigningKey>;
  /** An access token, of a good kind where nothing else is said; `undefined` takes a claim away. */
  token(claims?: JWTPayload & Record<string, unknown>, options?: SignOptions): Promise<string>;
}

/** Opens an issuer of tokens for one audience. It ends with the test. */
export async function openIssuer(clock: TestClock, audience: string): Promise<TestIssuer> {
  let key = await makeKey("ES256");
  let published = [key.publicJwk];
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const issuer: TestIssuer = {
    address,
    requestedPaths: [],
    requests: [],
    consent: undefined,
    client: { clientId: "test-client", clientSecret: "test-secret" },
    metadata: {},
    keyText: undefined,
    fault: undefined,
    get key() {
      return key;
    },
    async rotate({ withdraw = false, alg = "ES256" } = {}) {
      key = await makeKey(alg);
      published = withdraw ? [key.publicJwk] : [...published, key.publicJwk];
      return key;
    },
    async token(claims = {}, { key: signer = key, header = {}, lastsSeconds = 300 } = {}) {
      const nowSeconds = Math.floor(clock.now().getTime() / 1000);
      const payload = {
        iss: address,
        aud: audience,
        sub: "anna",
        client_id: "test-client",
        scope: "programs:read",
        iat: nowSeconds,
        exp: nowSeconds + lastsSeconds,
        ...claims,
      };
      const given = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
      return new SignJWT(given)
        .setProtectedHeader({ alg: signer.alg, kid: signer.kid, typ: "at+jwt", ...header })
        .sign(signer.privateKey);
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "", address);
    issuer.requestedPaths.push(pathname);
    if (issuer.fault === "hang") return;
    if (issuer.fault) return send(response, {}, issuer.fault);
    if (pathname === "/.well-known/oauth-authorization-server") return send(response, metadataOf(issuer));
    if (pathname === "/jwks") return void response.end(issuer.keyText ?? JSON.stringify({ keys: published }));
    if (pathname === "/token") return send(response, await grant(issuer, request));
    send(response, {}, 404);
  }

  return issuer;
}

function metadataOf({ address, metadata }: TestIssuer) {
  return {
    issuer: address,
    authorization_endpoint: `${address}/authorize`,
    token_endpoint: `${address}/token`,
    jwks_uri: `${address}/jwks`,
    response_types_supported: ["code"],
    grant_types_supported: ["client_credentials"],
    token_endpoint_auth_methods_supported: ["client_secret_basic"],
    code_challenge_methods_supported: ["S256"],
    ...metadata,
  };
}

async function grant(issuer: TestIssuer, request: IncomingMessage) {
  let text = "";
  for await (const chunk of request) text += chunk;
  const form = new URLSearchParams(text);
  const { clientId, clientSecret } = issuer.client;
  const expected = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
  if (request.headers.authorization !== expected || form.get("grant_type") !== "client_credentials") {
    return { error: "invalid_client" };
  }
  const requestedPaths = form.get("scope") ?? "";
  issuer.requests.push({ scope: requestedPaths, resource: form.get("resource") });
  const { consent } = issuer;
  const scope = requestedPaths
    .split(" ")
    .filter((each) => consent?.includes(each) ?? true)
    .join(" ");
  return { access_token: await issuer.token({ scope }), token_type: "Bearer", expires_in: 300, scope };
}

function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

let made = 0;

async function makeKey(alg: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const kid = `key-${++made}`;
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}
