import { createId } from "../ids.ts";

/** The parts of an MCP handler's context that are used here. */
interface Context {
  readonly http?:
    | { readonly authInfo?: { readonly extra?: Readonly<Record<string, unknown>> | undefined } | undefined }
    | undefined;
}

/** The name under which an HTTP request's id is passed along with its caller's token. */
export const requestIdKey = "requestId";

/** Returns the id that the response's `X-Request-Id` contains, or a new one without HTTP. */
export function getRequestId(context: Context): string {
  const given = context.http?.authInfo?.extra?.[requestIdKey];
  return typeof given === "string" ? given : createId("req");
}
