import { bodyLimit } from "hono/body-limit";
import { cors } from "hono/cors";
import { getUserScopes, type User } from "../../contract/access/roles.ts";
import { listScopeGroups, selectScopes } from "../../contract/access/scope-groups.ts";
import type { Scope } from "../../contract/access/scopes.ts";
import type { Authorization, ConsentRequest } from "../../identity/app-authorization.ts";
import { appIdleDays, connectionDays, defaultConnectionDays } from "../../identity/limits.ts";
import { pageHeaders } from "../../pages/layout.ts";
import { renderConnectedAppsPage } from "../../pages/people/connected-apps.ts";
import {
  renderConsentPage,
  renderExpiredConsentPage,
  renderRefusedAppPage,
  untilEnded,
} from "../../pages/people/consent.ts";
import type { AppAdmin } from "../../pipeline/users/app-admin.ts";
import { createIssuerMetadata, issuerMetadataPaths, oauthPaths } from "../auth/authorization-server.ts";
import {
  findSignedIn,
  type PageContext,
  type PeopleApp,
  type PeopleServices,
  redirectToSignIn,
  requireSignIn,
  toBrowserRequest,
} from "./browser-request.ts";
import { readForm, readList } from "./forms.ts";
import { answerTooMany } from "./page-errors.ts";
import { addPageHeaders } from "./page-headers.ts";

/** Paths of the pages on which people connect apps and end their connections. */
export const appPagePaths = ["/connect", "/connected-apps"] as const;

const maxAppRequestBytes = 16 * 1024;

/** Adds the authorization server: its metadata, its endpoints, and the pages on which people decide. */
export function addAppRoutes(app: PeopleApp, people: PeopleServices, appAdmin: AppAdmin): void {
  for (const path of issuerMetadataPaths) {
    app.use(path, cors());
    app.get(path, (context) => {
      const { origin } = toBrowserRequest(people, context);
      return context.json(createIssuerMetadata(origin, people.canLoadDocuments()));
    });
  }
  for (const path of [oauthPaths.token, oauthPaths.register, oauthPaths.revoke]) {
    app.use(path, cors(), bodyLimit({ maxSize: maxAppRequestBytes }));
    app.post(path, async (context) => {
      const { apps } = await people.accounts();
      const answer = await apps.answer(toBrowserRequest(people, context), context.req.raw);
      return context.newResponse(answer.body, answer);
    });
  }
  addConsentRoutes(app, people);
  addConnectedAppRoutes(app, people, appAdmin);
}

function addConsentRoutes(app: PeopleApp, people: PeopleServices): void {
  app.use(oauthPaths.authorize, addPageHeaders);
  app.get(oauthPaths.authorize, async (context) => {
    const { apps } = await people.accounts();
    const { searchParams } = new URL(context.req.url);
    const authorization = await apps.authorize(toBrowserRequest(people, context), searchParams);
    return answerAuthorization(context, authorization);
  });

  app.get("/connect/:ticket", async (context) => {
    const { apps } = await people.accounts();
    return showConsent(people, context, await apps.findRequest(readRequest(context), context.req.param("ticket")));
  });

  app.post("/connect/:ticket", async (context) => {
    const { apps } = await people.accounts();
    const ticket = context.req.param("ticket");
    const { decision, days } = await readForm(context, ["decision", "days"]);
    const isConnecting = decision === "connect";
    const chosen = isConnecting ? selectScopes(await readList(context, "group"), await readList(context, "scope")) : [];
    const request = readRequest(context);
    if (isConnecting && chosen.length === 0) {
      const message = "Choose what the app may do.";
      return showConsent(people, context, await apps.findRequest(request, ticket), message);
    }
    const signedIn = await findSignedIn(people, context);
    const allowed = new Set<Scope>(signedIn && (await findGrantable(people, signedIn.user)));
    const granted = chosen.filter((scope) => allowed.has(scope));
    const url = await apps.decide(request, ticket, { scopes: granted, days: parseDays(days) });
    return url === undefined ? showConsent(people, context, undefined) : context.redirect(url, 303);
  });

  function readRequest(context: PageContext) {
    return toBrowserRequest(people, context);
  }
}

/** Returns how many days an app stays connected, or undefined if until it is ended. */
function parseDays(given: string): number | undefined {
  if (given === untilEnded) return undefined;
  return connectionDays.find((days) => String(days) === given) ?? defaultConnectionDays;
}

function answerAuthorization(context: PageContext, authorization: Authorization): Response | Promise<Response> {
  switch (authorization.next) {
    case "signIn":
      return redirectToSignIn(context);
    case "consent":
      return context.redirect(`/connect/${authorization.ticket}`, 303);
    case "app":
      return context.redirect(authorization.url, 303);
    case "refuse": {
      const { reason, retryAfterSeconds, isUnavailable = false } = authorization;
      if (retryAfterSeconds === undefined) return context.html(renderRefusedAppPage(reason, isUnavailable), 400);
      return answerTooMany(context, retryAfterSeconds);
    }
  }
}

async function showConsent(
  people: PeopleServices,
  context: PageContext,
  consent: ConsentRequest | undefined,
  refusal?: string,
): Promise<Response> {
  if (!consent) {
    const signedIn = await findSignedIn(people, context);
    return signedIn ? context.html(renderExpiredConsentPage(signedIn.user), 404) : redirectToSignIn(context);
  }
  const { user, name, clientId, hasDocument, redirectUri, scopes, allowedBefore } = consent;
  const allowed = await findGrantable(people, user);
  const grantable = new Set(scopes.filter((scope) => allowed?.has(scope)));
  const groups = listScopeGroups(grantable);
  const page = renderConsentPage({
    user,
    organisation: await people.findOrganisation(user.businessId),
    app: name,
    host: hasDocument ? new URL(clientId).host : undefined,
    redirectUri,
    groups,
    isReduced: grantable.size < scopes.length,
    missingProductToken: allowed ? undefined : people.productTokens?.host,
    path: context.req.path,
    allowedBefore,
    days: connectionDays,
    defaultDays: defaultConnectionDays,
    idleDays: appIdleDays,
    mistakes: refusal === undefined ? [] : [{ input: `group-${groups[0]?.name}`, message: refusal }],
  });
  // Browsers apply the policy of a form's page to where its answer leads too.
  const policy = pageHeaders["content-security-policy"]?.replace(
    "form-action 'self'",
    `form-action 'self' ${getFormTarget(redirectUri)}`,
  );
  return context.html(page, refusal === undefined ? 200 : 422, { "content-security-policy": policy ?? "" });
}

/** Returns what a person may grant. Undefined if apps call a product, and there is no token for it. */
async function findGrantable({ productTokens }: PeopleServices, user: User): Promise<ReadonlySet<Scope> | undefined> {
  const own = getUserScopes(user);
  if (!productTokens) return own;
  const usable = await productTokens.findUsable(user);
  return usable?.token === undefined ? undefined : own.intersection(usable.scopes);
}

/** Returns the origin of an address, or the scheme of an installed program's. */
function getFormTarget(redirectUri: string): string {
  const { origin, protocol } = new URL(redirectUri);
  return origin === "null" ? protocol : origin;
}

function addConnectedAppRoutes(app: PeopleApp, people: PeopleServices, appAdmin: AppAdmin): void {
  app.get(
    "/connected-apps",
    requireSignIn(people, async (context, user) => {
      const done = context.req.query("done") === undefined ? undefined : "The connection has ended.";
      return context.html(renderConnectedAppsPage({ user, apps: await appAdmin.list(user), done }));
    }),
  );

  app.post(
    "/connected-apps/:connectionId/end",
    requireSignIn(people, async (context, user) => {
      await appAdmin.end(user, context.req.param("connectionId") ?? "");
      return context.redirect("/connected-apps?done=ended", 303);
    }),
  );
}
