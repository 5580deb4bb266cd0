import { readFileSync } from "node:fs";
import { type Dispatcher, EnvHttpProxyAgent, errors, Pool } from "undici";
import { type Problem, problem } from "../contract/errors.ts";

export interface HttpClientOptions {
  /** Origin of the product's service. */
  readonly origin: string;
  /** A file of PEM certificates to trust beside the usual ones. */
  readonly caFile?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

/** One attempt at a request; redirects are not followed, for the token must not go elsewhere. */
export interface HttpClient {
  /** @throws Problem `upstream_unreachable`, `upstream_timeout`, `upstream_invalid_answer` */
  send(request: HttpRequest): Promise<HttpResponse>;
  close(): Promise<void>;
}

const connections = 64;
const connectTimeoutMs = 5_000;
/** Until the first byte of an answer, and between two pieces of it. */
const answerTimeoutMs = 10_000;
const maxAnswerBytes = 16 * 1024 * 1024;

export function createHttpClient({ origin, caFile, env }: HttpClientOptions): HttpClient {
  const connect = { timeout: connectTimeoutMs, ...(caFile === undefined ? {} : { ca: readFileSync(caFile, "utf8") }) };
  const options = {
    connect,
    connections,
    allowH2: true,
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
    keepAliveTimeout: 30_000,
  };
  const proxied = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].some((name) => env[name]);
  const dispatcher: Dispatcher = proxied ? new EnvHttpProxyAgent(options) : new Pool(origin, options);

  return {
    async send({ path, ...request }) {
      try {
        const { statusCode, headers, body } = await dispatcher.request({
          ...request,
          origin,
          path,
          body: request.body ?? null,
        });
        return { status: statusCode, headers: firstOf(headers), text: await bounded(body) };
      } catch (error) {
        throw asProblem(error, origin);
      }
    },
    close: () => dispatcher.close(),
  };
}

async function bounded(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) {
      body.destroy();
      throw problem("upstream_invalid_answer", { cause: `more than ${maxAnswerBytes} bytes` });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function firstOf(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}

/** Only the kind of failure is told: messages of the network stack may hold addresses, headers and worse. */
function asProblem(error: unknown, origin: string): Problem | unknown {
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError)
    return problem("upstream_timeout");
  const { name, code } = error as { name?: string; code?: string };
  if (name === "AbortError" || name === "TimeoutError" || name === "Problem") return error;
  return problem("upstream_unreachable", { origin, cause: reasons[code ?? ""] ?? code ?? "the connection broke" });
}

const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: "its name is unknown",
  EAI_AGAIN: "its name cannot be looked up now",
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was cut",
  UND_ERR_SOCKET: "the connection was cut",
  UND_ERR_CONNECT_TIMEOUT: "it does not accept connections",
  CERT_HAS_EXPIRED: "its certificate has expired",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is not trusted",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is not trusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
};
