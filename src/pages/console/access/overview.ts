import { html } from "hono/html";
import type { ConnectedApp } from "../../../contract/access/connected-apps.ts";
import type { User } from "../../../contract/access/roles.ts";
import type { Scope } from "../../../contract/access/scopes.ts";
import type { Token } from "../../../contract/access/tokens.ts";
import { renderTable } from "../../components/data-table.ts";
import { formatMinute } from "../../components/format.ts";
import { renderNotice } from "../../components/notice.ts";
import { renderPage } from "../../layout.ts";
import { renderAppTable } from "./apps.ts";

/** A caller that the operator admits by the file of gateway keys. */
export interface ListedKey {
  readonly name: string;
  readonly scopes: ReadonlySet<Scope> | undefined;
  readonly expiresAt: string | undefined;
}

export interface AccessPage {
  readonly user: User;
  readonly people: readonly User[];
  /** Undefined with a remote service, which has its own tokens. */
  readonly tokens: readonly Omit<Token, "sha256">[] | undefined;
  /** The apps that people have connected. Undefined if they cannot. */
  readonly apps: readonly ConnectedApp[] | undefined;
  /** Undefined without a file of gateway keys. */
  readonly keys: readonly ListedKey[] | undefined;
  readonly now: string;
  readonly done?: string | undefined;
}

/** Renders who and what has access to the organisation's data. */
export function renderAccessPage(page: AccessPage) {
  const { user, done } = page;
  return renderPage(
    "Access",
    html`${done ? renderNotice(done, "done") : ""}${renderTokens(page)}${renderPeople(page)}
      ${page.apps ? renderAppTable(page.apps, page.people) : ""}${renderKeys(page)}`,
    { user, section: "/access" },
  );
}

function renderTokens({ tokens, now }: AccessPage) {
  if (!tokens) return "";
  return html`<h2>Tokens</h2>
    <p>A token lets an AI client or a program work with your organisation's data, within its rights.</p>
    <p><a class="button" href="/access/tokens/new">New token</a></p>
    ${renderTable({
      caption: "Tokens",
      headings: ["Name", "Begins with", "Rights", "State", "Last used"],
      rows: tokens.map((token) => [
        html`<a href="/access/tokens/${token.tokenId}">${token.name || token.tokenId}</a>`,
        html`<code>${token.prefix}…</code>`,
        formatScopeCount(token.scopes.length),
        describeTokenState(token, now),
        formatMinute(token.lastUsedAt) || "Never",
      ]),
      empty: "There are no tokens.",
    })}`;
}

function formatScopeCount(count: number): string {
  return count === 1 ? "1 scope" : `${count} scopes`;
}

/** Describes whether a token still works. `now` is an ISO time. */
export function describeTokenState({ revokedAt, expiresAt }: Pick<Token, "revokedAt" | "expiresAt">, now: string) {
  if (revokedAt !== null) return `Revoked ${formatMinute(revokedAt)}`;
  if (expiresAt === null) return "Valid, does not expire";
  return `${expiresAt <= now ? "Expired" : "Valid until"} ${formatMinute(expiresAt)}`;
}

function renderPeople({ people }: AccessPage) {
  return html`<h2>People</h2>
    <p><a class="button" href="/access/people/new">Invite a person</a></p>
    ${renderTable({
      caption: "People",
      headings: ["Name", "E-mail address", "Role", "Sensitive data", "State"],
      rows: people.map(({ userId, name, email, role, seesSensitive, disabledAt }) => [
        html`<a href="/access/people/${userId}">${name || "Invited"}</a>`,
        email,
        roleLabels[role],
        seesSensitive ? "Shown" : "Hidden",
        disabledAt === null ? "Enabled" : `Disabled ${formatMinute(disabledAt)}`,
      ]),
      empty: "There are no people.",
    })}`;
}

export const roleLabels = { owner: "Owner", staff: "Staff", viewer: "Viewer" } as const;

function renderKeys({ keys, now }: AccessPage) {
  if (!keys) return "";
  return html`<h2>Gateway keys</h2>
    <p>The operator admits these callers in a file on the server, and removes them there.</p>
    ${renderTable({
      caption: "Gateway keys",
      headings: ["Name", "Rights", "State"],
      rows: keys.map(({ name, scopes, expiresAt = null }) => [
        name,
        scopes ? formatScopeCount(scopes.size) : "All of its token",
        describeTokenState({ revokedAt: null, expiresAt }, now),
      ]),
      empty: "The file names no callers.",
    })}`;
}
