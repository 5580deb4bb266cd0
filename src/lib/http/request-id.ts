import { createId } from "../ids.ts";

/** What an MCP handler is told of its request, as far as it is looked into here. */
interface Context {
  readonly http?:
    | {
        readonly authInfo?:
          | { readonly token: string; readonly extra?: Readonly<Record<string, unknown>> | undefined }
          | undefined;
      }
    | undefined;
}

/** Under which name an HTTP request's id travels beside its caller's token. */
export const requestIdKey = "requestId";

/** Under which name, beside it, who calls: an opaque name that opens nothing. */
export const callerKey = "caller";

/** Who calls, as far as a request of its own says so. */
export function getRequestCaller(context: Context): string | undefined {
  const given = context.http?.authInfo?.extra?.[callerKey];
  return typeof given === "string" ? given : undefined;
}

/** The id that the answer's `X-Request-Id` names; a new one where there is no HTTP. */
export function getRequestId(context: Context): string {
  const given = context.http?.authInfo?.extra?.[requestIdKey];
  return typeof given === "string" ? given : createId("req");
}

/**
 * The token that an HTTP request itself brought: within a session its caller may have renewed the one that opened it.
 * Of a connection whose messages bring none, the connection's.
 */
export function getRequestToken({ http }: Context, ofConnection: string | undefined): string | undefined {
  return http?.authInfo?.token ?? ofConnection;
}
