import { html } from "hono/html";
import type { User } from "../../contract/access/roles.ts";
import type { ScopeGroup } from "../../contract/access/scope-groups.ts";
import { renderSelect } from "../components/choices.ts";
import { type FormMistakes, renderChoiceGroup, renderField } from "../components/form-fields.ts";
import { renderPage } from "../layout.ts";

export interface ConsentPage {
  readonly user: User;
  readonly organisation: string;
  /** The name that the app gave itself. */
  readonly app: string;
  /** The host that vouches for the app, if it has a metadata document. */
  readonly host: string | undefined;
  /** Where the answer goes. */
  readonly redirectUri: string;
  /** The scopes that the app asks for and the person may grant. */
  readonly groups: readonly ScopeGroup[];
  /** The app asks for more than the person may grant. */
  readonly isReduced: boolean;
  /** The app needs a token of the product, and there is none: the host of the product. */
  readonly missingProductToken: string | undefined;
  readonly path: string;
  /** The scopes that the person has allowed the app before. */
  readonly allowedBefore: ReadonlySet<string>;
  /** The choices of days for which the app can stay connected, and the first choice. */
  readonly days: readonly number[];
  readonly defaultDays: number;
  readonly idleDays: number;
  readonly mistakes?: FormMistakes;
}

/** The choice of an app that stays connected until the person ends it. */
export const untilEnded = "ended";

/**
 * Renders the page on which a person decides what an app may do. At first, reading is chosen, and what the person has
 * allowed it before.
 */
export function renderConsentPage(page: ConsentPage) {
  const { user, organisation, app, mistakes } = page;
  return renderPage(
    `Connect ${app || "an app"}`,
    html`<p>An app asks for access to the programmes of <strong>${organisation}</strong>, in your name.</p>
      ${renderApp(page)}
      ${page.missingProductToken === undefined ? renderChoices(page) : renderMissingProductToken(page.missingProductToken, page.path)}`,
    { user, mistakes },
  );
}

/** Renders the form on which the person decides. */
function renderChoices(page: ConsentPage) {
  const { groups, isReduced, path, allowedBefore } = page;
  const ordinary = groups.filter(({ name }) => name !== "sensitive");
  const sensitive = groups.find(({ name }) => name === "sensitive");
  return html`<form method="post" action="${path}">
    <fieldset>
      <legend>What the app may do</legend>
      ${
        allowedBefore.size > 0
          ? html`<p class="hint">You have connected this app before. What you allowed then is chosen.</p>`
          : ""
      }
      ${ordinary.map((group) => renderGroup(page, group))}
      ${isReduced ? html`<p class="hint">The app asks for more, which your own rights do not include.</p>` : ""}
    </fieldset>
    ${
      sensitive
        ? html`<fieldset>
            <legend>Sensitive personal data</legend>
            <p class="notice error">
              Contact details and other sensitive answers of applicants then reach the app and the AI behind it. Most work
              does not need them.
            </p>
            ${renderGroup(page, sensitive)}
          </fieldset>`
        : ""
    }
    ${renderDays(page)}
    <button type="submit" name="decision" value="connect">Connect</button>
    ${renderDecline()}
  </form>`;
}

function renderDecline() {
  return html`<button type="submit" name="decision" value="decline" class="quiet">Do not connect</button>`;
}

/** Renders which app asks, and whom. */
function renderApp({ user, app, host, redirectUri }: ConsentPage) {
  return html`<dl>
        <dt>App</dt>
        <dd>${app || "It gave no name."}</dd>
        <dt>Who says so</dt>
        <dd>
          ${
            host
              ? html`<strong>${host}</strong> publishes this app.`
              : "Nobody confirms the name. Connect it only if you have just started this yourself."
          }
        </dd>
        <dt>You return to</dt>
        <dd>${describeTarget(redirectUri)}</dd>
        <dt>You are</dt>
        <dd><bdi>${user.name}</bdi> (${user.email})</dd>
      </dl>`;
}

/** Renders the way to the page on which the person saves a product token, and back. */
function renderMissingProductToken(host: string, path: string) {
  return html`<p class="notice error" role="alert">
      The app reaches ${host} with a product token, and none is saved for you. Save one first, or ask an owner to save
      one for the organisation.
    </p>
    <p><a class="button" href="/product-token?${new URLSearchParams({ next: path })}">Save a product token</a></p>
    <form method="post" action="${path}">${renderDecline()}</form>`;
}

function renderGroup({ allowedBefore, mistakes }: ConsentPage, { name, label, scopes }: ScopeGroup) {
  const before = scopes.filter((scope) => allowedBefore.has(scope));
  const isChosen = name === "read" || before.length === scopes.length;
  const box = { name: "group", id: `group-${name}`, value: name, label, hint: listAreas(scopes), isChecked: isChosen };
  return html`${renderField({ ...box, type: "checkbox" }, mistakes)}
    ${scopes.length > 1 ? renderSingleScopes(label, scopes, isChosen ? [] : before) : ""}`;
}

/** Renders the scopes of a group, to choose single ones. */
function renderSingleScopes(label: string, scopes: ScopeGroup["scopes"], chosen: readonly string[]) {
  return html`<details ${chosen.length > 0 ? "open" : ""}>
    <summary>Choose single scopes (${label})</summary>
    ${renderChoiceGroup({
      ...{ name: "scope", id: `scope-${scopes[0]}`, type: "checkbox", hasColumns: true },
      legend: "If you choose any here, the app gets only these.",
      choices: scopes.map((scope) => ({ value: scope, label: scope, isChecked: chosen.includes(scope) })),
    })}
  </details>`;
}

function renderDays({ days, defaultDays, idleDays }: ConsentPage) {
  const choices = days.map((each) => ({ value: String(each), label: each === 1 ? "1 day" : `${each} days` }));
  return html`${renderSelect("days", "How long", [...choices, { value: untilEnded, label: "Until you end it" }], String(defaultDays))}
    <p class="hint">
      You can end it at any time on the page <em>Connected apps</em>. It also ends after ${idleDays} days in which the app
      did nothing.
    </p>`;
}

/** Lists the kinds of records of scopes: `person-fields:read` is of `person fields`. */
function listAreas(scopes: ScopeGroup["scopes"]): string {
  return [...new Set(scopes.map((scope) => scope.split(":")[0]?.replaceAll("-", " ")))].join(", ");
}

function describeTarget(redirectUri: string): string {
  const url = URL.parse(redirectUri);
  if (url?.protocol === "https:") return url.host;
  return url?.protocol === "http:" ? "a program on this computer" : `a program on this computer (${url?.protocol})`;
}

/**
 * Renders the page for a request of an app that cannot be answered.
 * @param isUnavailable - the app's metadata document could not be loaded
 */
export function renderRefusedAppPage(reason: string, isUnavailable: boolean) {
  return renderPage(
    "This app cannot be connected",
    html`<p>The app sent a request that this server does not accept (<code>${reason}</code>). Nothing was connected.</p>
      ${
        isUnavailable
          ? html`<p>
              This server could not load the description that the app's provider publishes, or the description is not
              valid. The server's network may have no way to the internet. Start again in the app: many apps then register
              instead.
            </p>`
          : html`<p>Start again in the app. If that does not help, its provider has to correct the request.</p>`
      }`,
  );
}

/** Renders the page for a question that was answered before, has expired, or was for somebody else. */
export function renderExpiredConsentPage(user: User) {
  return renderPage(
    "This question cannot be answered any more",
    html`<p>It was answered before, it has expired, or it was for another session. Start again in the app.</p>`,
    { user },
  );
}
