import type { Identity, RequestCaller, Upstream } from "./port.ts";

/** The part of the SDK's context that describes an HTTP request's caller. */
interface Context {
  readonly http?:
    | {
        readonly authInfo?:
          | { readonly token: string; readonly extra?: Readonly<Record<string, unknown>> | undefined }
          | undefined;
      }
    | undefined;
}

/** The field of `AuthInfo.extra` that holds the identity. */
export const identityKey = "identity";

/**
 * Returns the caller that an HTTP request names, because a session's client may have renewed its token. Returns the
 * connection's caller if there is no HTTP request.
 */
export function getRequestCaller({ http }: Context, connection: RequestCaller = { token: undefined }): RequestCaller {
  if (!http?.authInfo) return connection;
  const { token, extra } = http.authInfo;
  return { token, identity: extra?.[identityKey] as Identity | undefined };
}

/**
 * Returns the identity of a caller. Authenticates the token only if the transport has not.
 * @throws Problem `unauthorized`, `invalid_token`
 */
export function getIdentity(
  upstream: Pick<Upstream, "identify">,
  { token, identity }: RequestCaller,
): Promise<Identity> {
  return identity ? Promise.resolve(identity) : upstream.identify(token);
}
