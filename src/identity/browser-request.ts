import type { User } from "../contract/access/roles.ts";

/** A request of a browser: the origin by which it knows this server, and the address that it comes from. */
export interface BrowserRequest {
  readonly origin: string;
  readonly headers: Headers;
  readonly address: string;
}

/** A person who is signed in, and the session. */
export interface SignedIn {
  readonly user: User;
  readonly sessionId: string;
}

/** Returns the person of a request's session. Undefined without a session that is valid now. */
export type Authenticate = (request: BrowserRequest, options?: AuthenticateOptions) => Promise<SignedIn | undefined>;

export interface AuthenticateOptions {
  /** True if the request counts as one of the person, which extends the session. Default: true. */
  readonly extendsSession?: boolean;
}
