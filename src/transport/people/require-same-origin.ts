import { createMiddleware } from "hono/factory";
import { type PageContext, type PeopleServices, toBrowserRequest } from "./browser-request.ts";
import { answerError } from "./page-errors.ts";

const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Refuses requests that change something unless a page of this server sent them. A browser names the origin of every
 * such request, and says whether it is the same site; a request that does neither is refused too.
 */
export function requireSameOrigin(people: PeopleServices) {
  return createMiddleware(async (context, next) => {
    const site = context.req.header("sec-fetch-site");
    const isOwn = context.req.header("origin") === toBrowserRequest(people, context as PageContext).origin;
    if (!safeMethods.has(context.req.method) && !(isOwn && (site === undefined || site === "same-origin"))) {
      const text = "This form was not sent by a page of this server. Open the page again, and retry.";
      return answerError(context, 403, { title: "Not accepted", text });
    }
    await next();
    return undefined;
  });
}
