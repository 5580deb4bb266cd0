import type { Clock } from "../lib/clock.ts";
import type { AppAdmin } from "../pipeline/users/app-admin.ts";
import { createSignInAudit, type SignInAudit } from "../pipeline/users/sign-in-audit.ts";
import type { FirstOwner, UserAdmin } from "../pipeline/users/user-admin.ts";
import type { Store } from "../store/port.ts";
import { type AppAuthorization, createAppAuthorization } from "./app-authorization.ts";
import { type AttemptKind, type AttemptLimiter, createAttemptLimiter } from "./attempts.ts";
import { type Auth, type AuthOptions, createAuth, providerId } from "./auth.ts";
import type { Authenticate, BrowserRequest } from "./browser-request.ts";
import { createClientDocuments, type FetchDocument } from "./client-documents.ts";
import { authPath } from "./limits.ts";

/** The result of an attempt. `cookies` are values of `Set-Cookie`. A refusal does not say whether an account exists. */
export type SignInAttempt =
  | { readonly ok: true; readonly cookies: readonly string[] }
  | { readonly ok: false; readonly retryAfterSeconds?: number | undefined };

/** The page of an external provider. `cookies` are values of `Set-Cookie`. */
export interface ProviderStart {
  readonly url: string;
  readonly cookies: readonly string[];
}

export interface UserSession {
  readonly sessionId: string;
  readonly createdAt: Date;
  readonly userAgent: string;
  readonly isCurrent: boolean;
}

export interface Passkey {
  readonly passkeyId: string;
  readonly name: string;
  readonly createdAt: Date | undefined;
}

/** Signs people in and out, and manages their own sessions, passwords and passkeys. */
export interface Accounts {
  readonly authenticate: Authenticate;
  signIn(request: BrowserRequest, given: { readonly email: string; readonly password: string }): Promise<SignInAttempt>;
  signOut(request: BrowserRequest): Promise<readonly string[]>;
  /** Uses a one-time link to set a password, ends the person's other sessions and signs in. */
  acceptLink(
    request: BrowserRequest,
    secret: string,
    given: FirstOwner & { readonly password: string },
  ): Promise<SignInAttempt>;
  /** Counts an attempt to open a link. Returns the seconds to wait if there were too many. */
  countLink(request: BrowserRequest): Promise<number | undefined>;
  changePassword(
    request: BrowserRequest,
    given: { readonly current: string; readonly password: string },
  ): Promise<SignInAttempt>;
  listSessions(request: BrowserRequest): Promise<readonly UserSession[]>;
  /** Ends a session of the same person. Does nothing for any other. */
  endSession(request: BrowserRequest, sessionId: string): Promise<void>;
  /** Ends all sessions of the person but the one that asks. */
  endOtherSessions(request: BrowserRequest): Promise<void>;
  listPasskeys(request: BrowserRequest): Promise<readonly Passkey[]>;
  /** Removes a passkey of the same person. Does nothing for any other. */
  removePasskey(request: BrowserRequest, passkeyId: string): Promise<void>;
  /** Returns the address of the external provider's page. It leads back to `next`, a local path. */
  startProvider(request: BrowserRequest, next: string): Promise<ProviderStart | undefined>;
  /** Answers an endpoint below `/auth`: of passkeys, and the way back from an external provider. */
  answer(request: BrowserRequest, raw: Request): Promise<Response>;
  /** Lets people connect apps. */
  readonly apps: AppAuthorization;
}

export interface AccountsDeps extends Omit<AuthOptions, "users" | "audit" | "documents"> {
  readonly store: Store;
  readonly userAdmin: UserAdmin;
  readonly appAdmin: AppAdmin;
  /** Fetches the metadata document of an app. */
  readonly fetchDocument: FetchDocument;
  readonly clock: Clock;
}

/** Origins by which browsers reach one server: names of this machine, and its public address. */
const maxOrigins = 10;

/** The way back from an external provider. */
const providerEndpoint = `GET /callback/${providerId}`;
const addPasskeyEndpoint = "POST /passkey/verify-registration";
/** The endpoints of better-auth that are reachable. All others are called by the pages. */
const openEndpoints: ReadonlySet<string> = new Set([
  "GET /passkey/generate-authenticate-options",
  "POST /passkey/verify-authentication",
  "GET /passkey/generate-register-options",
  addPasskeyEndpoint,
  providerEndpoint,
]);
/** Those that count as attempts. */
const countedEndpoints: ReadonlyMap<string, AttemptKind> = new Map([
  ["POST /passkey/verify-authentication", "address"],
  ["GET /passkey/generate-authenticate-options", "start"],
]);

/** The dependencies that the parts of {@link Accounts} share. */
interface AccountContext extends Pick<Accounts, "authenticate"> {
  getAuth(request: BrowserRequest): Auth;
  /** Has the external provider, which may be slow to answer. */
  readonly providerAuths: AuthCache;
  readonly attempts: AttemptLimiter;
  readonly audit: SignInAudit;
  /** Makes an attempt for an account, unless there were too many. */
  attempt(request: BrowserRequest, email: string, work: () => Promise<Response>): Promise<SignInAttempt>;
}

export function createAccounts(deps: AccountsDeps): Accounts {
  const documents = createClientDocuments(deps.fetchDocument, deps.clock);
  const context = createAccountContext({ ...deps, documents });
  const apps = createAppAuthorization({ ...deps, ...context, documents, apps: deps.store.apps });
  return { authenticate: context.authenticate, ...createSignIn(context, deps), ...createOwnAccount(context), apps };
}

function createAccountContext({
  store,
  clock,
  ...options
}: AccountsDeps & Pick<AuthOptions, "documents">): AccountContext {
  const { users } = store;
  const attempts = createAttemptLimiter(store, clock);
  const audit = createSignInAudit(store, clock);
  const auths = createAuthCache((origin) => createAuth(origin, { ...options, provider: undefined, users, audit }));
  const getAuth = auths.get;

  return {
    getAuth,
    providerAuths: createAuthCache((origin) => createAuth(origin, { ...options, users, audit })),
    attempts,
    audit,

    async authenticate(request, { extendsSession = true } = {}) {
      const query = { disableRefresh: !extendsSession };
      const found = await getAuth(request).api.getSession({ headers: request.headers, query });
      // Read again, since a change of the role or a disabled account applies at once.
      const user = found && (await users.get(found.user.id));
      return user && user.disabledAt === null ? { user, sessionId: found.session.id } : undefined;
    },

    async attempt(request, email, work) {
      const refuse = (retryAfterSeconds: number) => {
        // The answer does not wait, because its time would show whether the account exists.
        void recordRefusal(email).catch((error) => options.log.error({ err: error }, "A refusal was not audited"));
        return { ok: false, retryAfterSeconds } as const;
      };
      // Successes count too: each stores a session.
      const wait = await attempts.count("address", request.address);
      if (wait !== undefined) return refuse(wait);
      // It counts before the password is compared, so that attempts at the same time do not exceed the limit.
      const begun = await attempts.begin("account", email.trim().toLowerCase());
      if (begun.retryAfterSeconds !== undefined) return refuse(begun.retryAfterSeconds);
      const attempt = toAttempt(await work());
      if (attempt.ok) await begun.forget();
      return attempt;
    },
  };

  /** Records the first refusal of a window, so that an attack does not fill the audit. */
  async function recordRefusal(email: string): Promise<void> {
    const user = await users.findByEmail(email);
    // Unknown addresses are not counted: an attacker has any number of them.
    if (user && (await attempts.count("refusal", user.userId)) === undefined) await audit.recordRefusal(user);
  }
}

/** One {@link Auth} for each origin. */
interface AuthCache {
  get(request: BrowserRequest): Auth;
  /** Forgets what the provider answered. */
  forget(request: BrowserRequest): void;
}

function createAuthCache(create: (origin: string) => Auth): AuthCache {
  const auths = new Map<string, Auth>();
  return {
    get({ origin }) {
      const auth = auths.get(origin) ?? create(origin);
      if (auths.size >= maxOrigins) auths.clear();
      auths.set(origin, auth);
      return auth;
    },
    forget: ({ origin }) => void auths.delete(origin),
  };
}

type SignInPart = "signIn" | "signOut" | "countLink" | "acceptLink" | "startProvider" | "answer";

function createSignIn(
  context: AccountContext,
  { userAdmin, provider, store: { users } }: Pick<AccountsDeps, "userAdmin" | "provider" | "store">,
): Pick<Accounts, SignInPart> {
  const { getAuth, attempts, attempt, audit } = context;
  function signIn(request: BrowserRequest, { email, password }: { email: string; password: string }) {
    const headers = withoutCookies(request.headers);
    return getAuth(request).api.signInEmail({ body: { email: email.trim(), password }, headers, asResponse: true });
  }

  return {
    signIn: (request, given) => attempt(request, given.email, () => signIn(request, given)),

    async signOut(request) {
      const signedIn = await context.authenticate(request, { extendsSession: false });
      const response = await getAuth(request).api.signOut({ headers: request.headers, asResponse: true });
      if (signedIn) await audit.record(signedIn.user.userId, "user.signed_out");
      return response.headers.getSetCookie();
    },

    countLink: ({ address }) => attempts.count("link", address),

    async acceptLink(request, secret, { password, ...given }) {
      const user = await userAdmin.useLink(secret, given);
      if (!user) return { ok: false };
      await users.removeCredentials(user.userId);
      await setPassword(getAuth(request), user.userId, password);
      return toAttempt(await signIn(request, { email: user.email, password }));
    },

    ...(provider ? createProviderSignIn(context) : { startProvider: async () => undefined }),

    async answer(request, raw) {
      const endpoint = `${raw.method} ${new URL(raw.url).pathname.slice(authPath.length)}`;
      if (!openEndpoints.has(endpoint)) return new Response("Not found", { status: 404 });
      const counted = countedEndpoints.get(endpoint);
      const wait = counted && (await attempts.count(counted, request.address));
      if (wait !== undefined) {
        return new Response("Too many attempts", { status: 429, headers: { "retry-after": String(wait) } });
      }
      if (endpoint === providerEndpoint) return answerProvider(context, request, raw);
      const response = await getAuth(request).handler(raw);
      if (endpoint === addPasskeyEndpoint && response.ok) {
        const signedIn = await context.authenticate(request);
        if (signedIn) await audit.record(signedIn.user.userId, "user.passkey_added");
      }
      // The body of a sign-in has the session's token, which scripts must not see.
      return raw.method === "POST" ? replaceBody(response) : response;
    },
  };
}

function createProviderSignIn({ providerAuths, attempts }: AccountContext): Pick<Accounts, "startProvider"> {
  return {
    async startProvider(request, next) {
      if ((await attempts.count("start", request.address)) !== undefined) return undefined;
      const response = await providerAuths.get(request).api.signInSocial({
        body: {
          provider: providerId,
          callbackURL: next,
          errorCallbackURL: `/sign-in?${new URLSearchParams({ next })}`,
        },
        headers: withoutCookies(request.headers),
        asResponse: true,
      });
      if (!response.ok) {
        // The provider may answer next time.
        providerAuths.forget(request);
        return undefined;
      }
      const { url } = (await response.json()) as { url?: string };
      return url === undefined ? undefined : { url, cookies: response.headers.getSetCookie() };
    },
  };
}

/** Answers the way back from the provider. Its explanation of an error may name the person, so no address shows it. */
async function answerProvider(
  { providerAuths }: AccountContext,
  request: BrowserRequest,
  raw: Request,
): Promise<Response> {
  const response = await providerAuths.get(request).handler(raw);
  const location = new URL(response.headers.get("location") ?? "/sign-in?error", request.origin);
  const error = location.searchParams.get("error");
  if (location.pathname !== "/sign-in" || error === null) return response;
  if (error === "oauth_provider_not_found") providerAuths.forget(request);
  const headers = new Headers(response.headers);
  const next = location.searchParams.get("next");
  headers.set("location", `/sign-in?${new URLSearchParams({ ...(next === null ? {} : { next }), error: "provider" })}`);
  return new Response(null, { status: 302, headers });
}

/** Sets a password, and ends all sessions of the person. */
async function setPassword(auth: Auth, userId: string, password: string): Promise<void> {
  const { internalAdapter, password: passwords } = await auth.$context;
  const hash = await passwords.hash(password);
  const accounts = await internalAdapter.findAccounts(userId);
  if (accounts.some((account) => account.providerId === "credential")) {
    await internalAdapter.updatePassword(userId, hash);
  } else {
    await internalAdapter.createAccount({ userId, providerId: "credential", accountId: userId, password: hash });
  }
  await internalAdapter.deleteUserSessions(userId);
}

type OwnAccountPart =
  | "changePassword"
  | "listSessions"
  | "endSession"
  | "endOtherSessions"
  | "listPasskeys"
  | "removePasskey";

function createOwnAccount({ getAuth, authenticate, attempt, audit }: AccountContext): Pick<Accounts, OwnAccountPart> {
  return {
    async changePassword(request, { current, password }) {
      const signedIn = await authenticate(request);
      if (!signedIn) return { ok: false };
      const body = { currentPassword: current, newPassword: password, revokeOtherSessions: true };
      const { headers } = request;
      return attempt(request, signedIn.user.email, () =>
        getAuth(request).api.changePassword({ body, headers, asResponse: true }),
      );
    },

    async listSessions(request) {
      const signedIn = await authenticate(request);
      const found = await getAuth(request).api.listSessions({ headers: request.headers });
      return found.map(({ id: sessionId, createdAt, userAgent }) => ({
        sessionId,
        createdAt,
        userAgent: userAgent ?? "",
        isCurrent: sessionId === signedIn?.sessionId,
      }));
    },

    async endSession(request, sessionId) {
      const { api } = getAuth(request);
      const { headers } = request;
      const session = (await api.listSessions({ headers })).find(({ id }) => id === sessionId);
      if (!session) return;
      await api.revokeSession({ body: { token: session.token }, headers });
      await audit.record(session.userId, "user.session_ended");
    },

    async endOtherSessions(request) {
      const signedIn = await authenticate(request);
      if (!signedIn) return;
      await getAuth(request).api.revokeOtherSessions({ headers: request.headers });
      await audit.record(signedIn.user.userId, "user.session_ended");
    },

    async listPasskeys(request) {
      const found = await getAuth(request).api.listPasskeys({ headers: request.headers });
      return found.map(({ id: passkeyId, name, createdAt }) => ({ passkeyId, name: name ?? "Passkey", createdAt }));
    },

    async removePasskey(request, passkeyId) {
      const { api } = getAuth(request);
      const { headers } = request;
      const passkey = (await api.listPasskeys({ headers })).find(({ id }) => id === passkeyId);
      if (!passkey) return;
      await api.deletePasskey({ body: { id: passkeyId }, headers });
      await audit.record(passkey.userId, "user.passkey_removed");
    },
  };
}

function toAttempt(response: Response): SignInAttempt {
  return response.ok ? { ok: true, cookies: response.headers.getSetCookie() } : { ok: false };
}

function replaceBody({ status, headers }: Response): Response {
  const kept = new Headers({ "content-type": "application/json" });
  for (const cookie of headers.getSetCookie()) kept.append("set-cookie", cookie);
  return new Response("{}", { status, headers: kept });
}

/** Keeps the cookies of an earlier session away from a sign-in, which always begins a session of its own. */
function withoutCookies(headers: Headers): Headers {
  const own = new Headers(headers);
  own.delete("cookie");
  return own;
}
