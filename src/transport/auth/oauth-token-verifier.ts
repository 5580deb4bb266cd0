import type { JWTPayload, JWTVerifyGetKey, JWTVerifyResult } from "jose";
import { LRUCache } from "lru-cache";
import * as z from "zod";
import { isScope, type Scope } from "../../contract/access/scopes.ts";
import { Problem, problem } from "../../contract/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { hashSha256Hex } from "../../lib/crypto/crypto.ts";
import { isLoopback } from "../../lib/http/loopback.ts";
import type { Log } from "../../lib/log.ts";
import { version } from "../../lib/version.ts";
import { createHttpClient, type HttpClient } from "../../upstream/remote/http-client.ts";

export interface TokenVerifierOptions {
  /** Exactly as in the `iss` claim of tokens. */
  readonly issuer: string;
  /** The required `aud` claim: this server (RFC 8707). */
  readonly audience: string;
  /** The text that may stand before the names of scopes. */
  readonly scopePrefix: string;
  /** The address of the issuer's keys; undefined to take it from the issuer's metadata. */
  readonly jwksUri: string | undefined;
  /** The variables that name proxies. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The claims of an access token. */
export interface Claims {
  readonly subject: string;
  /** The client that the token was issued to, if it names one. */
  readonly client: string | undefined;
  /** The token's scopes that exist here. */
  readonly scopes: ReadonlySet<Scope>;
}

/** Verifies access tokens of one issuer (RFC 9068) with its public keys. */
export interface TokenVerifier {
  /** @throws Problem `invalid_token`; `unavailable` while the issuer's keys cannot be fetched */
  verify(token: string): Promise<Claims>;
  /**
   * Fetches the issuer's metadata and keys again, as a check.
   * @throws Error that says which of them cannot be fetched, and why
   */
  probe(): Promise<{ readonly jwksUri: string; readonly keys: number }>;
  close(): Promise<void>;
}

/** Asymmetric signatures only: a public key must never be used as a shared secret, and `none` is not a signature. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
/** The types by which a header names an access token (RFC 9068). */
const accessTokenTypes: readonly unknown[] = ["at+jwt", "application/at+jwt"];
/** The types that many issuers give any token. Other kinds (logout, events, proofs) are not for getting in with. */
const generalTypes: readonly unknown[] = [undefined, "jwt", "application/jwt"];
/** The claims by which a token names its own kind: Keycloak's `typ`, Cognito's `token_use`. */
const kindClaims = { typ: "bearer", token_use: "access" };
/** Claims that OpenID Connect has for ID tokens alone. */
const idTokenClaims = ["nonce", "at_hash", "c_hash"];
const skewSeconds = 10;
/** A verified token is not verified again for so long: that is also how long a withdrawn key may still count. */
const rememberMs = 60_000;
export const maxRemembered = 10_000;
export const fetchTimeoutMs = 5_000;
/** Pause after a failed fetch: unauthenticated requests must not become requests to the issuer. */
const pauseMs = 5_000;

interface Remembered {
  readonly claims: Claims;
  readonly untilMs: number;
}

export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { issuer, audience, scopePrefix, clock, log } = options;
  const keys = createKeys(options);
  const remembered = new LRUCache<string, Remembered>({ max: maxRemembered });

  async function verifyToken(token: string): Promise<Remembered> {
    const { errors, jwtVerify } = await import("jose");
    try {
      const currentDate = clock.now();
      const rules = { issuer, audience, algorithms, clockTolerance: skewSeconds, currentDate };
      const result = await jwtVerify(token, await keys.find(), { ...rules, requiredClaims: ["exp", "sub"] });
      return {
        claims: toClaims(result, scopePrefix),
        untilMs: Math.min(getExpiryMs(result.payload), currentDate.getTime() + rememberMs),
      };
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (error instanceof errors.JOSEError) {
        log.debug({ code: error.code }, "An access token was refused");
        throw problem("invalid_token");
      }
      log.warn({ err: error }, "A key of the issuer cannot be used");
      throw createUnavailableProblem();
    }
  }

  return {
    async verify(token) {
      const key = hashSha256Hex(token);
      const nowMs = clock.now().getTime();
      const known = remembered.get(key);
      if (known && known.untilMs > nowMs) return known.claims;
      remembered.delete(key);
      const fresh = await verifyToken(token);
      remembered.set(key, fresh);
      return fresh.claims;
    },
    probe: () => keys.probe(),
    close: () => keys.close(),
  };
}

/** @throws Problem `invalid_token` for a signed token that is not an access token */
function toClaims(verified: JWTVerifyResult, scopePrefix: string): Claims {
  const { payload } = verified;
  const { sub, client_id, azp, cnf } = payload;
  // A token bound to a key needs a proof of possession, which bearer authentication has not (RFC 9449).
  if (!isAccessToken(verified) || cnf !== undefined || !sub) throw problem("invalid_token");
  const client = [client_id, azp].find((name) => typeof name === "string");
  return { subject: sub, client: client as string | undefined, scopes: parseScopes(payload, scopePrefix) };
}

/**
 * Returns whether a token is an access token, and not an ID token or another token for the same audience. Auth0's older
 * profile, Entra and Okta sign both with the type `JWT`: then an access token names its scopes, and an ID token has
 * claims that only ID tokens have.
 */
function isAccessToken({ payload, protectedHeader }: JWTVerifyResult): boolean {
  const type = protectedHeader.typ?.toLowerCase();
  const kinds = Object.entries(kindClaims).filter(([claim]) => payload[claim] !== undefined);
  if (kinds.some(([claim, kind]) => String(payload[claim]).toLowerCase() !== kind)) return false;
  if (accessTokenTypes.includes(type)) return true;
  if (!generalTypes.includes(type)) return false;
  if (kinds.length > 0) return true;
  const namesScopes = payload["scope"] !== undefined || payload["scp"] !== undefined;
  return namesScopes && idTokenClaims.every((claim) => payload[claim] === undefined);
}

function getExpiryMs({ exp = 0 }: JWTPayload): number {
  return (exp + skewSeconds) * 1000;
}

/** Returns the known scopes of the claim `scope` (RFC 9068) or `scp`: a text with spaces or a list. */
function parseScopes({ scope, scp }: JWTPayload, prefix: string): Set<Scope> {
  const texts = [scope, scp].flat().filter((text) => typeof text === "string");
  const names = texts.flatMap((text) => text.split(" "));
  return new Set(names.map((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : name)).filter(isScope));
}

const Metadata = z.looseObject({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });
const KeySet = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })).max(1_000) });

/** Creates a reader of JSON documents, with one HTTP client for each server. */
function createReader(env: TokenVerifierOptions["env"]) {
  const clients = new Map<string, HttpClient>();

  async function fetchJson(address: string, signal: AbortSignal): Promise<unknown> {
    const { origin, pathname, search } = new URL(address);
    const timeouts = { connectTimeoutMs: fetchTimeoutMs, answerTimeoutMs: fetchTimeoutMs };
    const client = clients.get(origin) ?? createHttpClient({ origin, env, ...timeouts });
    clients.set(origin, client);
    const headers = { accept: "application/json", "user-agent": `programme-mcp/${version}` };
    const { status, text } = await client.send({ method: "GET", path: `${pathname}${search}`, headers, signal });
    if (status !== 200) throw new Error(`${address} answered ${status}`);
    return JSON.parse(text);
  }

  return {
    jsonAt: fetchJson,
    close: async () => void (await Promise.all([...clients.values()].map((client) => client.close()))),
  };
}

/** Fetches the issuer's public keys when first needed, and again after ten minutes or for an unknown key. */
function createKeys({ issuer, jwksUri, env, log }: TokenVerifierOptions) {
  const { jsonAt, close } = createReader(env);
  let keys: Promise<JWTVerifyGetKey> | undefined;
  let failedAtMs = Number.NEGATIVE_INFINITY;

  /** @throws Problem `unavailable` if it fails or takes too long, and during the pause after that */
  async function fetchWithTimeout<R>(work: (signal: AbortSignal) => Promise<R>): Promise<R> {
    if (performance.now() - failedAtMs < pauseMs) throw createUnavailableProblem();
    try {
      return await work(AbortSignal.timeout(fetchTimeoutMs));
    } catch (error) {
      failedAtMs = performance.now();
      log.warn({ err: error, issuer }, "The issuer's keys cannot be fetched");
      throw createUnavailableProblem();
    }
  }

  async function discoverKeys(signal: AbortSignal): Promise<string> {
    const faults: unknown[] = [];
    for (const address of listMetadataAddresses(issuer)) {
      try {
        const metadata = Metadata.parse(await jsonAt(address, signal));
        if (metadata.issuer !== issuer) throw new Error(`${address} is of the issuer ${metadata.issuer}`);
        if (!isSafe(metadata.jwks_uri, issuer)) throw new Error(`${address} names keys at no https address`);
        return metadata.jwks_uri;
      } catch (error) {
        faults.push(error);
      }
    }
    throw new AggregateError(faults, faults.map(String).join("; "));
  }

  async function open(): Promise<JWTVerifyGetKey> {
    const { createRemoteJWKSet, customFetch } = await import("jose");
    const address = jwksUri ?? (await fetchWithTimeout(discoverKeys));
    return createRemoteJWKSet(new URL(address), {
      [customFetch]: async (url: string) =>
        Response.json(await fetchWithTimeout(async (signal) => KeySet.parse(await jsonAt(url, signal)))),
    });
  }

  return {
    async find(): Promise<JWTVerifyGetKey> {
      keys ??= open();
      try {
        return await keys;
      } catch (error) {
        keys = undefined;
        throw error;
      }
    },
    async probe() {
      const signal = AbortSignal.timeout(fetchTimeoutMs);
      const address = jwksUri ?? (await discoverKeys(signal));
      return { jwksUri: address, keys: KeySet.parse(await jsonAt(address, signal)).keys.length };
    },
    close,
  };
}

/** Returns where an issuer's metadata may be: by RFC 8414, by OpenID Connect, and by a mixture that some issuers use. */
function listMetadataAddresses(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const places = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
  const inserted = places.map((place) => `${origin}${place}${path}`);
  return [...new Set([...inserted, `${origin}${path}${places[1]}`])];
}

/** Returns whether keys may be fetched from `address`: over https, or from this machine if the issuer runs on it. */
function isSafe(address: string, issuer: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || (isLoopback(hostname) && isLoopback(new URL(issuer).hostname));
}

function createUnavailableProblem(): Problem {
  return problem("unavailable", { retryAfterSeconds: pauseMs / 1000 });
}
