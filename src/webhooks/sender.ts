import type { buildConnector, Dispatcher } from "undici";
import type { DeliveryError } from "../contract/webhooks.ts";
import { isLoopback } from "../lib/http/loopback.ts";
import type { AddressGuard } from "./address-guard.ts";
import type { Attempt } from "./retry-schedule.ts";
import { AddressRefused, createSafeConnector, type Resolve } from "./safe-connector.ts";

/** Makes one attempt; rejects only with the reason of `signal`. */
export type Sender = (request: SendRequest, signal: AbortSignal) => Promise<Attempt>;

export interface SendRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SenderOptions {
  readonly isBlocked: AddressGuard;
  readonly resolve: Resolve;
  readonly userAgent: string;
  /** Limits the whole attempt. */
  readonly timeoutMs?: number;
}

export const attemptTimeoutMs = 15_000;
const connectTimeoutMs = 10_000;
/** Limits the wait for the response body after its status. */
const answerTimeoutMs = 2_000;
export const answerBytes = 1_024;

/** Sends each attempt over a new connection, so that no receiver can affect a later attempt. */
export function createSender({ isBlocked, resolve, userAgent, timeoutMs = attemptTimeoutMs }: SenderOptions): Sender {
  let connector: Promise<buildConnector.connector> | undefined;

  async function postRequest(
    { url, headers, body }: SendRequest,
    signal: AbortSignal,
  ): Promise<Omit<Attempt, "durationMs">> {
    const { origin, pathname, search, protocol, hostname } = new URL(url);
    // Unencrypted requests must not leave this machine.
    if (protocol !== "https:" && !isLocal(hostname)) throw new AddressRefused();
    // Loaded with the first webhook, because most starts send none.
    const { Client } = await import("undici");
    connector ??= createSafeConnector(isBlocked, resolve, Math.min(timeoutMs, connectTimeoutMs));
    const client = new Client(origin, { connect: await connector, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
    try {
      const response = await client.request({
        method: "POST",
        path: pathname + search,
        headers: { ...headers, "content-type": "application/json", "user-agent": userAgent },
        body,
        reset: true,
        signal,
      });
      return { ...classifyResponse(response), answer: await readBeginning(response.body) };
    } finally {
      void client.destroy();
    }
  }

  return async (request, signal) => {
    const startedMs = performance.now();
    const deadline = AbortSignal.timeout(timeoutMs);
    const attempt = await postRequest(request, AbortSignal.any([deadline, signal])).catch((error: unknown) => {
      if (signal.aborted) throw signal.reason;
      return {
        statusCode: null,
        error: deadline.aborted ? ("timeout" as const) : classifyFailure(error),
        answer: null,
      };
    });
    return { ...attempt, durationMs: Math.round(performance.now() - startedMs) };
  };
}

/** Returns whether a host is this machine, by its name or address alone. */
export function isLocal(hostname: string): boolean {
  return isLoopback(hostname) || hostname.endsWith(".localhost");
}

function classifyResponse({
  statusCode,
  headers,
}: Dispatcher.ResponseData): Pick<Attempt, "statusCode" | "error" | "retryAfter"> {
  if (statusCode >= 200 && statusCode < 300) return { statusCode, error: null };
  const retryAfter = headers["retry-after"];
  const waits = (statusCode === 429 || statusCode === 503) && typeof retryAfter === "string";
  return {
    statusCode,
    error: statusCode >= 300 && statusCode < 400 ? "redirect" : "status",
    ...(waits ? { retryAfter } : {}),
  };
}

/** Reads the beginning of the response body for the log. The status already decides the result, so errors are ignored. */
async function readBeginning(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => body.destroy(), answerTimeoutMs);
  body.on("error", () => undefined);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= answerBytes) break;
    }
  } catch {
    // The body was cut off; the part before is used.
  } finally {
    clearTimeout(timer);
  }
  // PostgreSQL does not store zero bytes in texts.
  return Buffer.concat(chunks).subarray(0, answerBytes).toString("utf8").replaceAll("\0", "\u{fffd}");
}

/** Classifies a failure. Messages of the network stack are not used, because they may contain addresses and headers. */
function classifyFailure(error: unknown): DeliveryError {
  if (error instanceof AddressRefused) return "address_refused";
  const { name = "", code = "" } = error as { name?: string; code?: string };
  if (/TIMEOUT|ETIMEDOUT/.test(code) && code !== "ETIMEOUT") return "timeout";
  if (/^(ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|EFORMERR|EBADNAME|ETIMEOUT|ECANCELLED)$/.test(code))
    return "name_unknown";
  if (/CERT|^ERR_TLS|SELF_SIGNED|^UNABLE_TO_|^ERR_SSL|EPROTO/.test(code)) return "certificate";
  if (name === "HTTPParserError" || /^HPE_|HEADERS_OVERFLOW|CONTENT_LENGTH|INVALID/.test(code)) return "invalid_answer";
  return "connection_failed";
}
