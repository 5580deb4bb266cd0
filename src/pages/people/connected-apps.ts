import { html } from "hono/html";
import type { ConnectedApp } from "../../contract/access/connected-apps.ts";
import type { User } from "../../contract/access/roles.ts";
import { listScopeGroups } from "../../contract/access/scope-groups.ts";
import { renderNotice } from "../components/notice.ts";
import { renderPage } from "../layout.ts";

export interface ConnectedAppsPage {
  readonly user: User;
  readonly apps: readonly ConnectedApp[];
  readonly done?: string | undefined;
}

/** Renders the apps that a person has connected. */
export function renderConnectedAppsPage({ user, apps, done }: ConnectedAppsPage) {
  return renderPage(
    "Connected apps",
    html`${done ? renderNotice(done, "done") : ""}
      <p>These apps act in your name. Ending one applies from its next call on.</p>
      ${
        apps.length === 0
          ? html`<p>You have connected no app.</p>`
          : html`<ul class="rows">
              ${apps.map(renderApp)}
            </ul>`
      }
      <p><a href="/account">Your account</a></p>`,
    { user },
  );
}

/** Returns where an app is from: the host that publishes it, or the one that its answers go to. */
export function findAppHost({ clientId, redirectUris }: Pick<ConnectedApp, "clientId" | "redirectUris">) {
  return URL.parse(clientId)?.host ?? URL.parse(redirectUris[0] ?? "")?.host;
}

function renderApp(app: ConnectedApp) {
  const { connectionId, name, scopes, connectedAt, expiresAt, lastUsedAt } = app;
  const groups = listScopeGroups(new Set(scopes));
  const host = findAppHost(app);
  return html`<li class="row">
    <span>
      <strong><bdi>${name || "An app without a name"}</bdi></strong>${host ? ` (${host})` : ""}, since ${connectedAt.slice(0, 10)}${expiresAt === null ? "" : `, until ${expiresAt.slice(0, 10)}`}<br />
      ${groups.map(({ label }) => label).join(" · ")}<br />
      ${lastUsedAt === null ? "Not used yet" : `Last used ${lastUsedAt.slice(0, 10)}`}
    </span>
    <form method="post" action="/connected-apps/${connectionId}/end">
      <button class="quiet" aria-label="End the connection of ${name}">End</button>
    </form>
  </li>`;
}
