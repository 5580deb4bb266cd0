import type { Context, MiddlewareHandler } from "hono";
import { newId } from "../lib/ids.ts";

/** Names every request; its answer says so in `X-Request-Id`. */
export const nameRequest: MiddlewareHandler = async (context, next) => {
  const requestId = newId("req");
  context.set("requestId", requestId);
  await next();
  context.res.headers.set("x-request-id", requestId);
};

/** The name that {@link nameRequest} gave. */
export function requestIdOf(context: Context): string {
  return context.get("requestId") as string;
}
