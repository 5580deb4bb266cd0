import { html } from "hono/html";
import type { User } from "../../../contract/access/roles.ts";
import { type Scope, scopes, sensitiveScope } from "../../../contract/access/scopes.ts";
import type { Token } from "../../../contract/access/tokens.ts";
import type { Choice } from "../../components/choices.ts";
import { type FormMistakes, renderChoiceGroup, renderField } from "../../components/form-fields.ts";
import { formatMinute } from "../../components/format.ts";
import { renderPage } from "../../layout.ts";
import { renderCarefulAction, renderSecret } from "../components.ts";
import { describeTokenState } from "./overview.ts";

/** The values that a person gave for a token. The page shows them again if something is wrong with them. */
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
  readonly mistakes?: FormMistakes;
}

export function renderNewTokenPage({ user, grantable, form, mistakes }: NewTokenPage) {
  return renderPage(
    "New token",
    html`<form method="post" action="/access/tokens">
        ${renderName(form.name, mistakes)} ${renderPresets(form.preset, grantable, mistakes)}
        <details ${form.preset === "chosen" ? "open" : ""}>
          <summary>Scopes</summary>
          ${renderScopes(grantable, form.scopes, mistakes)}
        </details>
        ${renderExpiry(expiryChoices, form.expires, mistakes)}
        <button>Make the token</button>
      </form>
      ${renderBack()}`,
    { user, section: "/access", mistakes },
  );
}

export interface EditTokenPage extends Omit<NewTokenPage, "form"> {
  readonly token: Token;
  readonly form: Omit<TokenForm, "preset">;
  readonly now: string;
}

export function renderEditTokenPage({ user, grantable, token, form, now, mistakes }: EditTokenPage) {
  const path = `/access/tokens/${token.tokenId}`;
  const offered = new Set([...grantable, ...token.scopes]);
  return renderPage(
    `Token ${token.name || token.tokenId}`,
    html`<dl>
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
                ${renderName(form.name, mistakes)} ${renderScopes(offered, form.scopes, mistakes)}
                ${renderExpiry([{ value: "", label: "As it is" }, ...expiryChoices], form.expires, mistakes)}
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
    { user, section: "/access", mistakes },
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

function renderName(value: string, mistakes: FormMistakes | undefined) {
  const hint = "What the token is for. The audit shows it.";
  const attributes = { required: true, maxlength: maxTokenNameChars };
  return renderField({ name: "name", label: "Name", hint, value, attributes }, mistakes);
}

const presetLabels = {
  read: "Read everything except sensitive personal data",
  write: "Read and change everything except sensitive personal data",
  all: "Everything, sensitive personal data included",
  chosen: "Only the scopes chosen below",
} as const;

function renderPresets(preset: string, grantable: ReadonlySet<Scope>, mistakes: FormMistakes | undefined) {
  const offered = Object.entries(presetLabels).filter(([value]) => value !== "all" || grantable.has(sensitiveScope));
  const choices = offered.map(([value, label]) => ({ value, label, isChecked: preset === value }));
  return renderChoiceGroup({ name: "preset", type: "radio", legend: "Rights", choices }, mistakes);
}

function renderScopes(offered: ReadonlySet<Scope>, chosen: readonly string[], mistakes: FormMistakes | undefined) {
  const choices = scopes
    .filter((scope) => offered.has(scope))
    .map((scope) => ({ value: scope, label: scope, isChecked: chosen.includes(scope) }));
  const group = { name: "scope", type: "checkbox", legend: "Scopes", choices, hasColumns: true } as const;
  return renderChoiceGroup(group, mistakes);
}

function renderExpiry(choices: readonly Choice[], value: string, mistakes: FormMistakes | undefined) {
  return renderField({ name: "expires", label: "Expires", type: "select", choices, value }, mistakes);
}

function renderBack() {
  return html`<p><a href="/access">All access</a></p>`;
}
