import { createId } from "../ids.ts";

/** The parts of an MCP handler's context that are used here. */
interface Context {
  readonly http?:
    | {
        readonly authInfo?:
          | { readonly token: string; readonly extra?: Readonly<Record<string, unknown>> | undefined }
          | undefined;
      }
    | undefined;
}

/** The name under which an HTTP request's id is passed along with its caller's token. */
export const requestIdKey = "requestId";

/** The name under which the caller's opaque name is passed along with the token. */
export const callerKey = "caller";

/** Returns the caller that the request itself names. */
export function getRequestCaller(context: Context): string | undefined {
  const given = context.http?.authInfo?.extra?.[callerKey];
  return typeof given === "string" ? given : undefined;
}

/** Returns the id that the response's `X-Request-Id` contains, or a new one without HTTP. */
export function getRequestId(context: Context): string {
  const given = context.http?.authInfo?.extra?.[requestIdKey];
  return typeof given === "string" ? given : createId("req");
}

/**
 * Returns the token of the HTTP request itself, because a caller may renew its token within a session. Without HTTP,
 * returns the connection's token.
 */
export function getRequestToken({ http }: Context, ofConnection: string | undefined): string | undefined {
  return http?.authInfo?.token ?? ofConnection;
}
