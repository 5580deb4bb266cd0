import { isIP } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import type { Context, Hono } from "hono";
import type { Approvals } from "../../approvals/approvals.ts";
import type { User } from "../../contract/access/roles.ts";
import type { Accounts } from "../../identity/accounts.ts";
import type { AuthenticateOptions, BrowserRequest, SignedIn } from "../../identity/browser-request.ts";
import type { PersonMailer } from "../../mail/person-mail.ts";
import { toUserCaller } from "../../pipeline/steps/authenticate.ts";
import type { AppAdmin } from "../../pipeline/users/app-admin.ts";
import type { ProductTokenAdmin } from "../../pipeline/users/product-token-admin.ts";
import type { UserAdmin } from "../../pipeline/users/user-admin.ts";
import type { ApprovalNotices } from "../../store/people/user-store.ts";
import { getClientAddress } from "../http/client-address.ts";

export type PageContext = Context<{ Bindings: HttpBindings }>;
export type PeopleApp = Hono<{ Bindings: HttpBindings }>;

/** The services that the pages need for people who sign in. */
export interface PeopleServices {
  /** Loads the part that signs people in, on first use. */
  readonly accounts: () => Promise<Accounts>;
  readonly userAdmin: UserAdmin;
  /** The apps that people connect. Undefined if they cannot. */
  readonly appAdmin: AppAdmin | undefined;
  /** Returns whether the metadata documents of apps can be loaded, as far as is known. */
  readonly canLoadDocuments: () => boolean;
  /** The product tokens with which apps call a remote service. Undefined with the embedded service. */
  readonly productTokens: ProductTokenAdmin | undefined;
  readonly approvals: Approvals;
  /** The people who want messages of approvals. Undefined without a mail server. */
  readonly approvalNotices: ApprovalNotices | undefined;
  /** Mails one-time links. Undefined without a mail server. */
  readonly linkMailer: Pick<PersonMailer, "sendLink"> | undefined;
  /** Returns the name of an organisation's token. */
  readonly findTokenName: (businessId: string, tokenId: string) => Promise<string | undefined>;
  /** The origin by which browsers reach this server. Undefined: the one that a request names. */
  readonly publicOrigin: string | undefined;
  /** The name of the external provider with which people sign in, if there is one. */
  readonly provider: string | undefined;
  /** Returns the name of an organisation. */
  readonly findOrganisation: (businessId: string) => Promise<string>;
}

/** Describes a request to the part that signs people in. */
export function toBrowserRequest({ publicOrigin }: PeopleServices, context: PageContext): BrowserRequest {
  const { url, raw } = context.req;
  return {
    origin: publicOrigin ?? new URL(url).origin,
    headers: raw.headers,
    address: getClientAddress(context.env.incoming.socket.remoteAddress),
  };
}

/** Returns the person who is signed in. Loads nothing for a request without a session's cookie. */
export async function findSignedIn(
  people: PeopleServices,
  context: PageContext,
  options?: AuthenticateOptions,
): Promise<SignedIn | undefined> {
  if (!/session=/.test(context.req.header("cookie") ?? "")) return undefined;
  return (await people.accounts()).authenticate(toBrowserRequest(people, context), options);
}

/** Returns the caller of the pipeline for the person who is signed in. */
export async function authenticatePerson(people: PeopleServices, context: PageContext) {
  const signedIn = await findSignedIn(people, context);
  return signedIn && toUserCaller(signedIn.user);
}

/** Leads to the page for signing in, and from there back to the page that was asked for, or that sent a form. */
export function redirectToSignIn(context: PageContext): Response {
  const isForm = context.req.method !== "GET";
  const page = URL.parse(isForm ? (context.req.header("referer") ?? "") : context.req.url);
  const next = page ? { next: `${page.pathname}${page.search}` } : {};
  return context.redirect(`/sign-in?${new URLSearchParams({ ...next, ...(isForm ? { unsent: "" } : {}) })}`, 303);
}

/** Answers a request of a person who is signed in. */
export type PersonHandler = (context: PageContext, user: User) => Promise<Response>;

/** Returns a route's handler for people who are signed in. Others are led to the page for signing in. */
export function requireSignIn(people: PeopleServices, answer: PersonHandler) {
  return async (context: PageContext): Promise<Response> => {
    const signedIn = await findSignedIn(people, context);
    return signedIn ? answer(context, signedIn.user) : redirectToSignIn(context);
  };
}

/** Returns whether browsers allow passkeys for this server: not for one that is known by its address alone. */
export function hasPasskeys(people: PeopleServices, context: PageContext): boolean {
  const { hostname } = new URL(toBrowserRequest(people, context).origin);
  return isIP(hostname.replace(/^\[(.*)\]$/, "$1")) === 0;
}
