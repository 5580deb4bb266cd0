import * as z from "zod";
import { isScope, type Scope } from "../contract/access/scopes.ts";
import type { Clock } from "../lib/clock.ts";
import { createRandomToken } from "../lib/crypto/crypto.ts";
import type { AppAdmin } from "../pipeline/users/app-admin.ts";
import type { Store } from "../store/port.ts";
import type { AttemptLimiter } from "./attempts.ts";
import type { Auth } from "./auth.ts";
import type { Authenticate, BrowserRequest, SignedIn } from "./browser-request.ts";
import { type ClientDocuments, ClientMetadata, getApplicationType, isDocumentAddress } from "./client-documents.ts";
import { authPath, consentMinutes, maxUnusedClients } from "./limits.ts";
import { documentClients, libraryPages, offlineScope, type StoredClient, toStoredClient } from "./oauth-provider.ts";

/** The next step of a request for authorization. */
export type Authorization =
  | { readonly next: "signIn" }
  | { readonly next: "consent"; readonly ticket: string }
  /** To the app's own address, with a code or an error. */
  | { readonly next: "app"; readonly url: string }
  /** The request cannot be answered at an address that the app has named. */
  | {
      readonly next: "refuse";
      readonly reason: string;
      readonly retryAfterSeconds?: number | undefined;
      /** The metadata document of the app cannot be loaded, or is not valid. */
      readonly isUnavailable?: boolean;
    };

/** An app that asks a person for access. */
export interface ConsentRequest {
  readonly user: SignedIn["user"];
  readonly clientId: string;
  /** The name that the app gave itself. */
  readonly name: string;
  /** The app is known by the address of its metadata document. */
  readonly hasDocument: boolean;
  readonly redirectUri: string;
  /** The scopes that the app asks for, and those that the person has allowed it before. */
  readonly scopes: readonly Scope[];
  /** The scopes that the person has allowed it before. */
  readonly allowedBefore: ReadonlySet<string>;
}

/** The scopes and the time that a person allows an app. */
export interface ConsentDecision {
  readonly scopes: readonly Scope[];
  /** The days for which the app stays connected. Undefined: until it is ended. */
  readonly days: number | undefined;
}

/** Lets people connect apps: an authorization server (OAuth 2.1). */
export interface AppAuthorization {
  /** Answers the authorization endpoint. */
  authorize(request: BrowserRequest, parameters: URLSearchParams): Promise<Authorization>;
  /** Returns what a person is asked for. Undefined if the ticket is of another session, used or expired. */
  findRequest(request: BrowserRequest, ticket: string): Promise<ConsentRequest | undefined>;
  /**
   * Uses a ticket. Returns the app's address with a code, or with an error if no scope is granted. Undefined if the
   * ticket cannot be used.
   */
  decide(request: BrowserRequest, ticket: string, decision: ConsentDecision): Promise<string | undefined>;
  /** Answers the endpoints that apps call: for tokens, for their revocation and for registration. */
  answer(request: BrowserRequest, raw: Request): Promise<Response>;
}

export interface AppAuthorizationDeps {
  readonly getAuth: (request: BrowserRequest) => Auth;
  readonly authenticate: Authenticate;
  readonly attempts: AttemptLimiter;
  readonly documents: ClientDocuments;
  readonly apps: Store["apps"];
  readonly appAdmin: AppAdmin;
  readonly clock: Clock;
  /** Returns the address of MCP, for which tokens are issued. */
  readonly getResource: (origin: string) => string;
}

const dayMs = 86_400_000;

/** The request that a ticket stands for. */
const Ticket = z.object({ sessionId: z.string(), query: z.string() });

const appEndpoints: ReadonlySet<string> = new Set(["/oauth2/token", "/oauth2/revoke", "/oauth2/register"]);

export function createAppAuthorization(deps: AppAuthorizationDeps): AppAuthorization {
  const tickets = createTickets(deps);
  const { authenticate, appAdmin, apps, attempts, clock } = deps;

  return {
    async authorize(request, parameters) {
      const clientId = parameters.get("client_id") ?? "";
      const wait = await loadDocument(deps, request, clientId);
      if (wait !== undefined) return { next: "refuse", reason: "too_many_requests", retryAfterSeconds: wait };
      if (isDocumentAddress(clientId) && !(await findClient(deps, request, clientId))) {
        return { next: "refuse", reason: "invalid_client", isUnavailable: true };
      }
      // What has expired was not allowed before, and must not come back with its tokens.
      await apps.endExpired(clock.now().toISOString());
      const signedIn = await authenticate(request);
      const allowedBefore = await findAllowedScopes(deps, signedIn, clientId);
      const query = completeQuery(parameters, deps.getResource(request.origin), allowedBefore);
      const url = await findNextAddress(deps, request, query, signedIn !== undefined);
      return url ? tickets.follow(request, url) : { next: "refuse", reason: "invalid_request" };
    },

    async findRequest(request, ticket) {
      const signedIn = await authenticate(request);
      const query = signedIn && (await tickets.find(request, ticket, signedIn));
      if (!query) return undefined;
      return describeRequest(deps, request, signedIn, new URLSearchParams(query));
    },

    async decide(request, ticket, { scopes, days }) {
      const signedIn = await authenticate(request);
      const query = signedIn && (await tickets.use(request, ticket, signedIn));
      if (!query) return undefined;
      const consentRequest = await describeRequest(deps, request, signedIn, new URLSearchParams(query));
      const allowed = scopes.filter((scope) => consentRequest?.scopes.includes(scope));
      const accept = allowed.length > 0;
      if (!consentRequest) return undefined;
      if (accept) await storeDocumentClient(deps, request, consentRequest.clientId);
      const body = JSON.stringify({ accept, scope: [...allowed, offlineScope].join(" "), oauth_query: query });
      const answer = await callLibrary(deps, request, "/oauth2/consent", body);
      const { url } = (await answer.json()) as { url?: string };
      if (!answer.ok || url === undefined) return undefined;
      const endsAt = days === undefined ? null : new Date(clock.now().getTime() + days * dayMs).toISOString();
      if (accept) await appAdmin.recordConnection(signedIn.user, consentRequest.clientId, endsAt);
      return url;
    },

    async answer(request, raw) {
      const endpoint = new URL(raw.url).pathname.slice(authPath.length);
      if (raw.method !== "POST" || !appEndpoints.has(endpoint)) return new Response("Not found", { status: 404 });
      const text = await raw.text();
      if (endpoint !== "/oauth2/register") {
        // The library knows nothing of the time that a person has set.
        await apps.endExpired(clock.now().toISOString());
        const wait = await loadDocument(deps, request, new URLSearchParams(text).get("client_id") ?? "");
        return wait === undefined ? correctError(await forward(deps, request, raw, text)) : createTooMany(wait);
      }
      const wait = await attempts.count("registration", request.address);
      if (wait !== undefined) return createTooMany(wait);
      const metadata = parseRegistration(text);
      if (!metadata.success) return createRefusal(metadata.error);
      await apps.evictClients(maxUnusedClients);
      return forward(deps, request, raw, JSON.stringify(metadata.data));
    },
  };
}

/** Tickets bind a request for consent to the session of the person who is asked. Each can be used once. */
function createTickets({ getAuth, authenticate }: AppAuthorizationDeps) {
  const parse = (value: string | undefined, { sessionId }: SignedIn) => {
    const ticket = value === undefined ? undefined : Ticket.parse(JSON.parse(value));
    return ticket?.sessionId === sessionId ? ticket.query : undefined;
  };

  async function issue(request: BrowserRequest, query: string): Promise<Authorization> {
    const signedIn = await authenticate(request);
    if (!signedIn) return { next: "signIn" };
    const { internalAdapter } = await getAuth(request).$context;
    const ticket = createRandomToken();
    const value = JSON.stringify({ sessionId: signedIn.sessionId, query });
    const expiresAt = new Date(Date.now() + consentMinutes * 60_000);
    await internalAdapter.createVerificationValue({ identifier: nameTicket(ticket), value, expiresAt });
    return { next: "consent", ticket };
  }

  return {
    /** Takes over where the library sends the browser. */
    async follow(request: BrowserRequest, url: URL): Promise<Authorization> {
      const isOwn = url.origin === new URL(request.origin).origin;
      if (isOwn && url.pathname === libraryPages.consent) return issue(request, url.search.slice(1));
      if (!isOwn || url.pathname !== libraryPages.signIn) return { next: "app", url: url.href };
      const reason = url.searchParams.get("error");
      return reason === null ? { next: "signIn" } : { next: "refuse", reason };
    },

    async find(request: BrowserRequest, ticket: string, signedIn: SignedIn) {
      const { internalAdapter } = await getAuth(request).$context;
      const found = await internalAdapter.findVerificationValue(nameTicket(ticket));
      return found && found.expiresAt > new Date() ? parse(found.value, signedIn) : undefined;
    },

    async use(request: BrowserRequest, ticket: string, signedIn: SignedIn) {
      // Another session must not be able to use up a ticket.
      if (!(await this.find(request, ticket, signedIn))) return undefined;
      const { internalAdapter } = await getAuth(request).$context;
      const used = await internalAdapter.consumeVerificationValue(nameTicket(ticket));
      return parse(used?.value, signedIn);
    },
  };
}

function nameTicket(ticket: string): string {
  return `consent:${ticket}`;
}

/** Returns what a person has allowed an app before. */
async function findAllowedScopes(
  { apps }: AppAuthorizationDeps,
  signedIn: SignedIn | undefined,
  clientId: string,
): Promise<readonly Scope[]> {
  const connection = signedIn && (await apps.find(signedIn.user.userId, clientId));
  return connection?.scopes.filter(isScope) ?? [];
}

/**
 * Completes a request for authorization: a person is always asked, or the request is refused if nobody may be asked, and for MCP of this server alone. What was allowed
 * before is asked for again, because the answer replaces it.
 */
function completeQuery(given: URLSearchParams, resource: string, allowedBefore: readonly Scope[]): URLSearchParams {
  const query = new URLSearchParams(given);
  // A client cannot prove that it is the one that was connected before, so no consent is taken for granted.
  query.set("prompt", given.get("prompt")?.split(" ").includes("none") ? "none" : "consent");
  if (!query.has("resource")) query.set("resource", resource);
  const scope = query.get("scope");
  if (scope !== null) {
    const wanted = [...scope.split(" ").filter(Boolean), ...allowedBefore, offlineScope];
    query.set("scope", [...new Set(wanted)].join(" "));
  }
  return query;
}

/** Asks the library where to send the browser. A request that lets nobody be asked gets an error (OpenID Core, 3.1.2.6). */
async function findNextAddress(
  deps: AppAuthorizationDeps,
  request: BrowserRequest,
  query: URLSearchParams,
  isSignedIn: boolean,
): Promise<URL | undefined> {
  const isSilent = query.get("prompt") === "none";
  // With a session, the library could take an earlier consent for granted.
  const asking = isSilent ? { ...request, headers: new Headers() } : request;
  const answer = await callLibrary(deps, asking, `/oauth2/authorize?${query}`);
  const location = answer.headers.get("location");
  if (location === null) return undefined;
  const url = new URL(location, request.origin);
  if (isSilent && isSignedIn && url.searchParams.get("error") === "login_required") {
    url.searchParams.set("error", "consent_required");
    url.searchParams.set("error_description", "a person is always asked for consent");
  }
  return url;
}

async function describeRequest(
  deps: AppAuthorizationDeps,
  request: BrowserRequest,
  signedIn: SignedIn,
  query: URLSearchParams,
): Promise<ConsentRequest | undefined> {
  const { user } = signedIn;
  const clientId = query.get("client_id") ?? "";
  const client = await findClient(deps, request, clientId);
  if (!client) return undefined;
  return {
    user,
    clientId,
    name: client.name ?? "",
    hasDocument: client.clientDiscoveryId === documentClients,
    redirectUri: query.get("redirect_uri") ?? "",
    scopes: (query.get("scope") ?? "").split(" ").filter(isScope),
    allowedBefore: new Set(await findAllowedScopes(deps, signedIn, clientId)),
  };
}

async function findClient({ getAuth, documents }: AppAuthorizationDeps, request: BrowserRequest, clientId: string) {
  const document = documents.find(clientId);
  if (document) return toStoredClient(document);
  const { adapter } = await getAuth(request).$context;
  const where = [{ field: "clientId", value: clientId }];
  return (await adapter.findOne<StoredClient>({ model: "oauthClient", where })) ?? undefined;
}

/** Stores a client that is known by its document, now that a person connects it. */
async function storeDocumentClient(
  { getAuth, documents }: AppAuthorizationDeps,
  request: BrowserRequest,
  clientId: string,
): Promise<void> {
  const document = documents.find(clientId);
  if (!document) return;
  const { adapter } = await getAuth(request).$context;
  const where = [{ field: "clientId", value: clientId }];
  const data = { ...toStoredClient(document), updatedAt: new Date() };
  const isStored = (await adapter.update({ model: "oauthClient", where, update: data })) !== null;
  if (!isStored) await adapter.create({ model: "oauthClient", data: { ...data, createdAt: new Date() } });
}

/** Loads the metadata document of a client, if it has one. Returns the seconds to wait if there were too many. */
async function loadDocument(
  { documents, attempts }: AppAuthorizationDeps,
  { address }: BrowserRequest,
  clientId: string,
): Promise<number | undefined> {
  if (!isDocumentAddress(clientId) || !documents.needsFetch(clientId)) return undefined;
  const wait = await attempts.count("document", address);
  if (wait === undefined) await documents.load(clientId);
  return wait;
}

/** Calls the library for the person's browser. */
function callLibrary(
  { getAuth }: AppAuthorizationDeps,
  request: BrowserRequest,
  endpoint: string,
  body?: string,
): Promise<Response> {
  const { origin } = request;
  const cookie = request.headers.get("cookie");
  const headers = new Headers({ origin, accept: body === undefined ? "text/html" : "application/json" });
  if (cookie !== null) headers.set("cookie", cookie);
  if (body !== undefined) headers.set("content-type", "application/json");
  const init = body === undefined ? {} : { method: "POST", body };
  return getAuth(request).handler(new Request(`${origin}${authPath}${endpoint}`, { ...init, headers }));
}

/** Hands an app's request to the library, without cookies: apps are not browsers of a person. */
function forward({ getAuth }: AppAuthorizationDeps, request: BrowserRequest, raw: Request, body: string) {
  const headers = new Headers();
  for (const name of ["authorization", "content-type"]) {
    const value = raw.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const address = `${request.origin}${new URL(raw.url).pathname}`;
  return getAuth(request).handler(new Request(address, { method: "POST", body, headers }));
}

/** Answers a wrong verifier of a code with `invalid_grant` (RFC 7636, section 4.6). The library refuses it otherwise. */
async function correctError(answer: Response): Promise<Response> {
  if (answer.status !== 401) return answer;
  const { error, ...rest } = (await answer.clone().json()) as { readonly error?: string };
  if (error !== "invalid_request") return answer;
  return Response.json({ error: "invalid_grant", ...rest }, { status: 400, headers: { "cache-control": "no-store" } });
}

/** Parses the metadata of a client that registers, and keeps what is used here. */
function parseRegistration(text: string) {
  const Registration = ClientMetadata.transform(({ grant_types = [], ...metadata }) => ({
    ...metadata,
    application_type: getApplicationType(metadata.redirect_uris),
    grant_types: ["authorization_code", ...(grant_types.includes("refresh_token") ? ["refresh_token"] : [])],
    response_types: ["code"],
  }));
  return z
    .string()
    .transform((given, context) => {
      try {
        return JSON.parse(given) as unknown;
      } catch {
        context.addIssue("Expected JSON");
        return z.NEVER;
      }
    })
    .pipe(Registration)
    .safeParse(text);
}

function createRefusal({ issues }: z.ZodError): Response {
  const [issue] = issues;
  const error = issue?.path[0] === "redirect_uris" ? "invalid_redirect_uri" : "invalid_client_metadata";
  return Response.json({ error, error_description: `${issue?.path.join(".")}: ${issue?.message}` }, { status: 400 });
}

function createTooMany(seconds: number): Response {
  const body = { error: "temporarily_unavailable", error_description: "Too many requests came from this address." };
  return Response.json(body, { status: 429, headers: { "retry-after": String(seconds) } });
}
