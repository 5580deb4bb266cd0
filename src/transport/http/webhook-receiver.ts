import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { type WebhookResponse, webhookResponses } from "../../contract/webhook-responses.ts";
import type { Log } from "../../lib/log.ts";
import { readBytes } from "./body.ts";

/** Below it the webhooks that come in, by name. */
export const webhookPath = "/webhooks";

/** Takes what is delivered. */
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

/** No event comes near it. */
export const maxEventBytes = 256 * 1024;
/** For a body to arrive. Anybody can begin to send one. */
export const bodyTimeoutMs = 10_000;

/** A 401 has to name a way to be let in (RFC 9110 section 15.5.2); for signatures of webhooks none is registered. */
const challenge = { "www-authenticate": "Webhook-Signature" };

/**
 * The door for webhooks: `POST /webhooks/{name}` is answered 204 once the event is kept or known. What is refused is told
 * no more than its status says to whoever cannot sign.
 */
export function createWebhookHandler({ webhookReceiver, log, maxBodyBytes }: WebhookDeps): WebhookHandler {
  const maxBytes = Math.min(maxBodyBytes, maxEventBytes);

  return async (request, response, requestId) => {
    try {
      const webhook = nameIn(request.url ?? "");
      if (!webhookReceiver.knows(webhook)) return answer(response, 404, "There is no such webhook.");
      if (request.method !== "POST") return answer(response, 405, "Deliveries are posted.", { allow: "POST" });
      const body = await readBody(request, maxBytes);
      if (!body) return answer(response, 413, `A body has at most ${maxBytes} bytes.`);
      const receipt = await webhookReceiver.receive(webhook, { headers: request.headers, body });
      const { status, message } = webhookResponses[receipt];
      answer(response, status, message, receipt === "unsigned" ? challenge : {});
    } catch (error) {
      // Whoever went away needs no answer.
      if (request.destroyed && !request.complete) return;
      log.error({ err: error, requestId }, "A delivery could not be taken");
      answer(response, 503, "The delivery could not be taken now.", { "retry-after": "5" });
    }
  };
}

function nameIn(url: string): string {
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
  // What is left of a body that was not read to its end must not be taken for the next request.
  const unread = response.req.complete ? {} : { connection: "close" };
  const content = message === "" ? {} : { "content-type": "text/plain; charset=utf-8" };
  response.writeHead(status, { ...content, "cache-control": "no-store", ...headers, ...unread });
  response.end(message);
}
