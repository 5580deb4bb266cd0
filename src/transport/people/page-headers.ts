import { createMiddleware } from "hono/factory";
import { pageHeaders } from "../../pages/layout.ts";

/** Adds the headers of every page to an answer, unless the page has set one of its own. */
export const addPageHeaders = createMiddleware(async (context, next) => {
  await next();
  for (const [name, value] of Object.entries(pageHeaders)) {
    if (!context.res.headers.has(name)) context.header(name, value);
  }
});
