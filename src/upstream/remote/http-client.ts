import { type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import { type Problem, problem } from "../../contract/errors.ts";
import { isLoopback } from "../../lib/http/loopback.ts";
import { waitAtMost } from "../../lib/timeout.ts";
import { type ReceivedResponse, readResponse } from "./read-response.ts";

export interface HttpClientOptions {
  /** Origin of the product's service. */
  readonly origin: string;
  /** PEM certificates to trust instead of the system's. */
  readonly ca?: string | undefined;
  /** The variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower case. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly connectTimeoutMs: number;
  /** Time until the first byte of a response, and between two chunks. */
  readonly answerTimeoutMs: number;
}

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Time from sending to the last byte. */
  readonly timeoutMs?: number | undefined;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

/** Makes one attempt of a request. Redirects are not followed, because the token must not go elsewhere. */
export interface HttpClient {
  /**
   * Sends a request.
   * @throws Problem `upstream_unreachable` and `upstream_untrusted` when nothing was sent; `upstream_disconnected`,
   * `upstream_timeout`, `upstream_invalid_answer`. Once the signal is aborted, any error.
   */
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Requests use a proxy. */
  readonly proxied: boolean;
  /** Waits briefly for requests in flight, then aborts them. */
  close(): Promise<void>;
}

export const connections = 64;
const keepAliveTimeoutMs = 30_000;
export const maxAnswerBytes = 16 * 1024 * 1024;
const closeTimeoutMs = 1_000;

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { origin } = options;
  const proxies = resolveProxies(options);
  const dispatcher = proxies ? createProxyDispatcher(options, proxies) : new Pool(origin, createPoolOptions(options));

  let closed: Promise<void> | undefined;

  return {
    proxied: proxies !== undefined,
    async send({ method, path, headers, body = null, signal, timeoutMs }) {
      try {
        const request = { origin, method, path, headers, body };
        const received = await readResponse(dispatcher, request, { signal, timeoutMs, maxBytes: maxAnswerBytes });
        return {
          status: received.status,
          headers: takeFirstValues(received.headers),
          text: decodeBytes(received.body),
        };
      } catch (error) {
        throw signal?.aborted ? error : toProblem(error, origin);
      }
    },
    close: () => (closed ??= closeSoon(dispatcher)),
  };
}

async function closeSoon(dispatcher: Dispatcher): Promise<void> {
  await waitAtMost(closeTimeoutMs, dispatcher.close());
  await dispatcher.destroy();
}

function createPoolOptions({ ca, connectTimeoutMs, answerTimeoutMs }: HttpClientOptions) {
  return {
    connect: { timeout: connectTimeoutMs, ...(ca === undefined ? {} : { ca }) },
    connections,
    allowH2: true,
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
  };
}

interface Proxies {
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  readonly noProxy: string;
}

/** Reads the proxies from the environment. Requests to this machine use none, because plain HTTP must not leave it. */
function resolveProxies({ origin, env }: HttpClientOptions): Proxies | undefined {
  const { hostname } = new URL(origin);
  const httpProxy = env["http_proxy"] || env["HTTP_PROXY"];
  const httpsProxy = env["https_proxy"] || env["HTTPS_PROXY"];
  if (isLoopback(hostname) || (!httpProxy && !httpsProxy)) return undefined;
  return {
    // Always passed, even if empty: otherwise undici reads the process's own environment.
    httpProxy: httpProxy ?? "",
    httpsProxy: httpsProxy ?? "",
    noProxy: env["no_proxy"] || env["NO_PROXY"] || "",
  };
}

/** With a proxy, `connect` configures the tunnel. The options of the service's own connection are separate. */
function createProxyDispatcher(options: HttpClientOptions, proxies: Proxies): Dispatcher {
  const { ca, connectTimeoutMs } = options;
  const tls = { timeout: connectTimeoutMs, ...(ca === undefined ? {} : { ca }) };
  return new EnvHttpProxyAgent({
    ...createPoolOptions(options),
    ...proxies,
    requestTls: tls,
    proxyTls: tls,
    clientFactory: (proxy, given) => new Pool(proxy, { ...given, connections, headersTimeout: connectTimeoutMs }),
  });
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function decodeBytes(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw createInvalidAnswerProblem("bytes that are no text");
  }
}

function createInvalidAnswerProblem(cause: string): Problem {
  return problem("upstream_invalid_answer", { cause });
}

function takeFirstValues(headers: ReceivedResponse["headers"]): HttpResponse["headers"] {
  if (!Object.values(headers).some(Array.isArray)) return headers as HttpResponse["headers"];
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}

/**
 * Returns a problem with the kind of the failure only, because messages of the network stack may contain addresses and
 * headers.
 */
function toProblem(error: unknown, origin: string): unknown {
  const { name, code = "" } = error as { name?: string; code?: string };
  if (name === "Problem") return error;
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") return problem("upstream_timeout");
  if (code.startsWith("HPE_") || code === "UND_ERR_HEADERS_OVERFLOW")
    return createInvalidAnswerProblem("something that is not HTTP");
  // An error of this program is not a failure of the service.
  if (error instanceof TypeError || code === "UND_ERR_INVALID_ARG") return error;
  const beforeSending = unsent[code];
  if (beforeSending) return problem("upstream_unreachable", { origin, cause: beforeSending });
  const suspicion = untrusted[code] ?? (/CERT|_(TLS|SSL)_/.test(code) ? `the encryption failed (${code})` : undefined);
  if (suspicion) return problem("upstream_untrusted", { origin, cause: suspicion });
  const cause = cut.includes(code) || code === "" ? "the connection was cut" : `the connection failed (${code})`;
  return problem("upstream_disconnected", { origin, cause });
}

const cut = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"];

/** Failures before the request was sent. */
const unsent: Readonly<Record<string, string>> = {
  ENOTFOUND: "its name is unknown",
  EAI_AGAIN: "its name cannot be looked up now",
  ECONNREFUSED: "nothing listens there",
  EHOSTUNREACH: "there is no way to it",
  ENETUNREACH: "there is no network",
  EADDRNOTAVAIL: "there is no network",
  ETIMEDOUT: "it does not accept connections",
  UND_ERR_CONNECT_TIMEOUT: "it does not accept connections",
  // Not the request's own signal, which was checked before.
  UND_ERR_ABORTED: "the proxy does not lead there",
  UND_ERR_PRX_CONN: "the proxy cannot be reached",
  UND_ERR_PRX_TLS: "the proxy's certificate is not trusted",
};

const untrusted: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is not trusted",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is not trusted",
  UNABLE_TO_GET_ISSUER_CERT: "its certificate is not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is not trusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
};
