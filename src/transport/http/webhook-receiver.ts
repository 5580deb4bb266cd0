import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { type WebhookResponse, webhookResponses } from "../../contract/webhooks.ts";
import type { Log } from "../../lib/log.ts";
import { readBytes } from "./body.ts";

/** The path of incoming webhooks; the name of one follows it. */
export const webhookPath = "/webhooks";

/** Receives deliveries of webhooks. */
export interface WebhookIntake {
  knows(webhook: string): boolean;
  receive(
    webhook: string,
    delivery: { readonly headers: IncomingHttpHeaders; readonly body: Buffer },
  ): Promise<WebhookResponse>;
}

export interface WebhookDeps {
  readonly webhookReceiver: WebhookIntake;
  readonly log: Log;
  /** Bytes of a request body. */
  readonly maxBodyBytes: number;
}

/** Answers a request whose path begins with {@link webhookPath}. */
export type WebhookHandler = (request: IncomingMessage, response: ServerResponse, requestId: string) => Promise<void>;

/** Far more than any event has. */
export const maxEventBytes = 256 * 1024;
/** The time that a body may take to arrive: a sender is authenticated only after it. */
export const bodyTimeoutMs = 10_000;

/** A 401 must name an authentication scheme (RFC 9110, section 15.5.2); none is registered for webhook signatures. */
const challenge = { "www-authenticate": "Webhook-Signature" };

/**
 * Creates the handler of `POST /webhooks/{name}`. It answers 204 once the event is stored or was received before. A
 * sender that cannot sign learns nothing but the status.
 */
export function createWebhookHandler({ webhookReceiver, log, maxBodyBytes }: WebhookDeps): WebhookHandler {
  const maxBytes = Math.min(maxBodyBytes, maxEventBytes);

  return async (request, response, requestId) => {
    try {
      const webhook = parseWebhookName(request.url ?? "");
      if (!webhookReceiver.knows(webhook)) return answer(response, 404, "There is no such webhook.");
      if (request.method !== "POST") return answer(response, 405, "Deliveries are posted.", { allow: "POST" });
      const body = await readBody(request, maxBytes);
      if (!body) return answer(response, 413, `A body has at most ${maxBytes} bytes.`);
      const receipt = await webhookReceiver.receive(webhook, { headers: request.headers, body });
      const { status, message } = webhookResponses[receipt];
      answer(response, status, message, receipt === "unsigned" ? challenge : {});
    } catch (error) {
      // The client has disconnected.
      if (request.destroyed && !request.complete) return;
      log.error({ err: error, requestId }, "A delivery could not be received");
      answer(response, 503, "The delivery could not be received now.", { "retry-after": "5" });
    }
  };
}

function parseWebhookName(url: string): string {
  return url.slice(webhookPath.length + 1).replace(/\?.*$/, "");
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const timer = setTimeout(() => request.destroy(), bodyTimeoutMs);
  try {
    return await readBytes(request, maxBytes);
  } finally {
    clearTimeout(timer);
  }
}

function answer(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  // The rest of a body that was not read must not be parsed as the next request.
  const unread = response.req.complete ? {} : { connection: "close" };
  const content = message === "" ? {} : { "content-type": "text/plain; charset=utf-8" };
  response.writeHead(status, { ...content, "cache-control": "no-store", ...headers, ...unread });
  response.end(message);
}
