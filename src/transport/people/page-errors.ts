import type { Context, Next } from "hono";
import { accepts } from "hono/accepts";
import { bodyLimit } from "hono/body-limit";
import { createMiddleware } from "hono/factory";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type PageError, renderErrorPage } from "../../pages/error.ts";
import { pageHeaders } from "../../pages/layout.ts";
import { formatWait } from "./forms.ts";

/** Returns whether a request asks for HTML, as browsers do that open a page. */
export function isPageRequest(context: Context): boolean {
  return accepts(context, { header: "Accept", supports: ["text/html"], default: "" }) === "text/html";
}

/** Answers a browser with a page that explains what went wrong, and a program with the text alone. */
export function answerError(context: Context, status: ContentfulStatusCode, error: PageError): Response {
  context.header("vary", "accept");
  if (!isPageRequest(context)) return context.text(error.text, status);
  for (const [name, value] of Object.entries(pageHeaders)) context.header(name, value);
  return context.html(String(renderErrorPage(error)), status);
}

export function answerNotFound(context: Context): Response {
  const text = "There is nothing at this address. It may be incomplete, or what was there has been removed.";
  return answerError(context, 404, { title: "Not found", text });
}

/** Answers someone who has to wait after too many attempts. */
export function answerTooMany(context: Context, retryAfterSeconds: number): Response {
  context.header("retry-after", String(retryAfterSeconds));
  return answerError(context, 429, { title: "Too many attempts", text: formatWait(retryAfterSeconds) });
}

/** Refuses a form that is too large, or that is not a form. */
export function checkForms(maxBytes: number) {
  const limitBody = bodyLimit({
    maxSize: maxBytes,
    async onError(context) {
      await discard(context.req.raw.body, 10 * maxBytes);
      const text = `What was sent is larger than ${maxBytes / 1024} KiB. Nothing was saved. Send less, or a smaller file.`;
      return answerError(context, 413, { title: "Too large", text });
    },
  });
  return createMiddleware((context, next) => limitBody(context, () => parseForm(context, next)));
}

async function parseForm(context: Context, next: Next): Promise<void> {
  try {
    await context.req.parseBody();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const text = "The form could not be read. Nothing was saved. Open the page again, and retry.";
    context.res = answerError(context, 400, { title: "Not readable", text });
    return;
  }
  await next();
}

/** Reads a body that is too large, within bounds: a browser shows an answer only once it has sent the form. */
async function discard(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<void> {
  if (!body || body.locked) return;
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) return;
  }
}
