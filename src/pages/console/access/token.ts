import { html } from "hono/html";
import type { User } from "../../../contract/access/roles.ts";
import { type Scope, scopes, sensitiveScope } from "../../../contract/access/scopes.ts";
import type { Token } from "../../../contract/access/tokens.ts";
import { renderSelect } from "../../components/choices.ts";
import { formatMinute } from "../../components/format.ts";
import { renderNotice } from "../../components/notice.ts";
import { renderPage } from "../../layout.ts";
import { renderCarefulAction, renderSecret } from "../components.ts";
import { describeTokenState } from "./overview.ts";

/** What a person gave for a token, which the page shows again if something is wrong with it. */
export interface TokenForm {
  readonly name: string;
  readonly preset: string;
  readonly scopes: readonly string[];
  readonly expires: string;
}

export const maxTokenNameChars = 200;
/** Values of `expires` that are a number of days. */
export const expiryDays = ["7", "30", "90", "365"] as const;

const expiryChoices = [
  ...expiryDays.map((value) => ({ value, label: `In ${value} days` })),
  { value: "never", label: "Never" },
];

export interface NewTokenPage {
  readonly user: User;
  /** The scopes that the person may grant. */
  readonly grantable: ReadonlySet<Scope>;
  readonly form: TokenForm;
  readonly error?: string | undefined;
}

export function renderNewTokenPage({ user, grantable, form, error }: NewTokenPage) {
  return renderPage(
    "New token",
    html`${error ? renderNotice(error, "error") : ""}
      <form method="post" action="/access/tokens">
        ${renderName(form.name)}
        <fieldset>
          <legend>Rights</legend>
          ${renderPreset(form, "read", "Read everything except sensitive personal data")}
          ${renderPreset(form, "write", "Read and change everything except sensitive personal data")}
          ${grantable.has(sensitiveScope) ? renderPreset(form, "all", "Everything, sensitive personal data included") : ""}
          ${renderPreset(form, "chosen", "Only the scopes chosen below")}
        </fieldset>
        <details ${form.preset === "chosen" ? "open" : ""}>
          <summary>Scopes</summary>
          ${renderScopes(grantable, form.scopes)}
        </details>
        ${renderSelect("expires", "Expires", expiryChoices, form.expires)}
        <button>Make the token</button>
      </form>
      ${renderBack()}`,
    { user, section: "/access" },
  );
}

export interface EditTokenPage extends Omit<NewTokenPage, "form"> {
  readonly token: Token;
  readonly form: Omit<TokenForm, "preset">;
  readonly now: string;
}

export function renderEditTokenPage({ user, grantable, token, form, now, error }: EditTokenPage) {
  const path = `/access/tokens/${token.tokenId}`;
  const offered = new Set([...grantable, ...token.scopes]);
  return renderPage(
    `Token ${token.name || token.tokenId}`,
    html`${error ? renderNotice(error, "error") : ""}
      <dl>
        <dt>State</dt>
        <dd>${describeTokenState(token, now)}</dd>
        <dt>Begins with</dt>
        <dd><code>${token.prefix}…</code></dd>
        <dt>Made</dt>
        <dd>${formatMinute(token.createdAt)}</dd>
        <dt>Last used</dt>
        <dd>${formatMinute(token.lastUsedAt) || "Never"}</dd>
      </dl>
      <p><a href="/audit?actor=${token.tokenId}">What this token changed</a></p>
      ${
        token.revokedAt === null
          ? html`<form method="post" action="${path}">
                ${renderName(form.name)} ${renderScopes(offered, form.scopes)}
                ${renderSelect("expires", "Expires", [{ value: "", label: "As it is" }, ...expiryChoices], form.expires)}
                <button>Save</button>
              </form>
              ${renderCarefulAction(
                `${path}/revoke`,
                "Revoke the token",
                "Its next call is refused, and so is every later one. A revoked token cannot be used again.",
              )}`
          : ""
      }
      ${renderBack()}`,
    { user, section: "/access" },
  );
}

/** Renders a new token, with the settings of a client that uses it. */
export function renderIssuedTokenPage(user: User, name: string, token: string, mcpUrl: string) {
  const command = `claude mcp add --transport http programme ${mcpUrl} --header "Authorization: Bearer ${token}"`;
  return renderPage(
    "The token is made",
    html`${renderSecret(`This is the token ${name}.`, token)}
      <p>Claude Code takes it with this command:</p>
      <pre tabindex="0"><code>${command}</code></pre>
      ${renderBack()}`,
    { user, section: "/access" },
  );
}

function renderName(name: string) {
  return html`<label for="name">Name</label>
    <input id="name" name="name" required maxlength="${maxTokenNameChars}" value="${name}" aria-describedby="name-hint" />
    <p class="hint" id="name-hint">What the token is for. The audit shows it.</p>`;
}

function renderPreset({ preset }: TokenForm, value: string, label: string) {
  return html`<label class="choice">
    <input type="radio" name="preset" value="${value}" ${preset === value ? "checked" : ""} /> ${label}
  </label>`;
}

function renderScopes(offered: ReadonlySet<Scope>, chosen: readonly string[]) {
  return html`<fieldset class="columns">
    <legend>Scopes</legend>
    ${scopes
      .filter((scope) => offered.has(scope))
      .map(
        (scope) =>
          html`<label class="choice">
            <input type="checkbox" name="scope" value="${scope}" ${chosen.includes(scope) ? "checked" : ""} /> ${scope}
          </label>`,
      )}
  </fieldset>`;
}

function renderBack() {
  return html`<p><a href="/access">All access</a></p>`;
}
