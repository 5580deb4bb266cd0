import { html } from "hono/html";
import type { ConnectedApp } from "../../../contract/access/connected-apps.ts";
import type { User } from "../../../contract/access/roles.ts";
import { listScopeGroups } from "../../../contract/access/scope-groups.ts";
import { isScope } from "../../../contract/access/scopes.ts";
import { renderTable } from "../../components/data-table.ts";
import { formatMinute } from "../../components/format.ts";
import { renderPage } from "../../layout.ts";
import { findAppHost } from "../../people/connected-apps.ts";
import { renderCarefulAction } from "../components.ts";

/** Renders the apps that the people of an organisation have connected. */
export function renderAppTable(apps: readonly ConnectedApp[], people: readonly User[]) {
  return html`<h2>Connected apps</h2>
    <p>People let these apps act in their name.</p>
    ${renderTable({
      caption: "Connected apps",
      headings: ["App", "Person", "May", "Since", "Until", "Last used"],
      rows: apps.map((app) => [
        html`<a href="/access/apps/${app.connectionId}">${app.name || app.connectionId}</a>`,
        describePerson(app, people),
        describeRights(app),
        formatMinute(app.connectedAt),
        formatMinute(app.expiresAt) || "No limit",
        formatMinute(app.lastUsedAt) || "Never",
      ]),
      empty: "Nobody has connected an app.",
    })}`;
}

export interface AppPage {
  readonly user: User;
  readonly app: ConnectedApp;
  readonly people: readonly User[];
}

/** Renders an app that a person has connected, with the way to end the connection. */
export function renderAppPage({ user, app, people }: AppPage) {
  const { connectionId, name, connectedAt, expiresAt, lastUsedAt, scopes } = app;
  return renderPage(
    `App ${name || connectionId}`,
    html`<dl>
        <dt>Person</dt>
        <dd>${describePerson(app, people)}</dd>
        <dt>From</dt>
        <dd>${findAppHost(app) ?? "A program on the person's computer"}</dd>
        <dt>May</dt>
        <dd>${describeRights(app)}</dd>
        <dt>Scopes</dt>
        <dd>${scopes.filter(isScope).join(", ")}</dd>
        <dt>Since</dt>
        <dd>${formatMinute(connectedAt)}</dd>
        <dt>Until</dt>
        <dd>${formatMinute(expiresAt) || "No limit"}</dd>
        <dt>Last used</dt>
        <dd>${formatMinute(lastUsedAt) || "Never"}</dd>
      </dl>
      <p><a href="/audit?actor=${connectionId}">What this app changed</a></p>
      ${renderCarefulAction(
        `/access/apps/${connectionId}/end`,
        "End the connection",
        "The app's next call is refused. The person can connect it again.",
      )}
      <p><a href="/access">All access</a></p>`,
    { user, section: "/access" },
  );
}

function describePerson({ userId }: ConnectedApp, people: readonly User[]): string {
  const person = people.find((each) => each.userId === userId);
  return person?.name || person?.email || userId;
}

function describeRights({ scopes }: ConnectedApp): string {
  return listScopeGroups(new Set(scopes))
    .map(({ label }) => label)
    .join(" · ");
}
