import { setTimeout as delay } from "node:timers/promises";
import { streamSSE } from "hono/streaming";
import { renderApprovalRows } from "../../pages/approvals/approval.ts";
import { listDecidable } from "../people/approval-routes.ts";
import { findSignedIn, type PageContext, type PeopleServices } from "../people/browser-request.ts";

/** Streams open at once, in all and of one person. A page without one works, but does not change by itself. */
export const maxApprovalStreams = 100;
export const maxApprovalStreamsOfPerson = 10;
const intervalMs = 2000;
/** Polls between two comments, which keep proxies from closing an idle stream. */
const pollsPerComment = 10;

/**
 * Creates the handler that streams the approvals a person may decide (server-sent events), each time they change. It
 * polls, because another process may store them, and ends when the person signs out or this server closes.
 */
export function createApprovalStream(people: PeopleServices, closing: AbortSignal) {
  let open = 0;
  const openOf = new Map<string, number>();
  return async (context: PageContext): Promise<Response> => {
    // Nobody would read the stream of a HEAD request, so it would never end.
    if (context.req.method !== "GET") return context.text("Use GET.", 405, { allow: "GET" });
    const findPerson = () => findSignedIn(people, context, { extendsSession: false });
    let signedIn = await findPerson();
    if (!signedIn) return context.text("Sign in first.", 401);
    const { userId } = signedIn.user;
    const own = openOf.get(userId) ?? 0;
    if (open >= maxApprovalStreams || own >= maxApprovalStreamsOfPerson)
      return context.text("Too many pages are open. Reload this one later.", 503);
    open += 1;
    openOf.set(userId, own + 1);
    return streamSSE(context, async (stream) => {
      const gone = new AbortController();
      stream.onAbort(() => gone.abort());
      const signal = AbortSignal.any([gone.signal, closing]);
      try {
        for (let sent = "", polls = 0; signedIn && !signal.aborted; polls++) {
          const data = String(await renderApprovalRows(await listDecidable(people, signedIn.user)));
          if (data !== sent) await stream.writeSSE({ event: "approvals", data });
          else if (polls % pollsPerComment === 0) await stream.write(":\n\n");
          sent = data;
          await delay(intervalMs, undefined, { signal }).catch(() => undefined);
          signedIn = signal.aborted ? undefined : await findPerson();
        }
      } finally {
        open -= 1;
        const left = (openOf.get(userId) ?? 1) - 1;
        if (left > 0) openOf.set(userId, left);
        else openOf.delete(userId);
      }
    });
  };
}
