import { html } from "hono/html";
import type { Role, User } from "../../contract/access/roles.ts";
import { passkeyAsset } from "../assets.ts";
import { type FormMistakes, renderField } from "../components/form-fields.ts";
import { renderNotice } from "../components/notice.ts";
import { renderPage } from "../layout.ts";
import { renderNewPassword } from "./link.ts";
import { passwordField, renderPasskeyStatus } from "./sign-in.ts";

export interface AccountPage {
  readonly user: User;
  readonly organisation: string;
  readonly sessions: readonly {
    readonly sessionId: string;
    readonly createdAt: Date;
    readonly userAgent: string;
    readonly isCurrent: boolean;
  }[];
  readonly passkeys: readonly {
    readonly passkeyId: string;
    readonly name: string;
    readonly createdAt: Date | undefined;
  }[];
  readonly hasPasskeys: boolean;
  /** People can connect apps. */
  readonly hasApps: boolean;
  /** Apps call a product, with a token that the person may save. */
  readonly hasProductToken: boolean;
  readonly minPasswordChars: number;
  /** True if the person wants messages of new approvals. Undefined if nobody can send them, or they do not concern the person. */
  readonly wantsNotices: boolean | undefined;
  readonly done?: string | undefined;
  readonly mistakes?: FormMistakes;
}

const rights: Readonly<Record<Role, string>> = {
  owner: "Owner: reads and changes everything, and manages access",
  staff: "Staff: reads and changes everything",
  viewer: "Viewer: reads everything",
};

export function renderAccountPage(page: AccountPage) {
  const { user, organisation, done, mistakes, hasPasskeys } = page;
  return renderPage(
    "Your account",
    html`${done ? renderNotice(done, "done") : ""}
      <dl>
        <dt>Name</dt>
        <dd>${user.name}</dd>
        <dt>E-mail address</dt>
        <dd>${user.email}</dd>
        <dt>Organisation</dt>
        <dd>${organisation}</dd>
        <dt>Role</dt>
        <dd>${rights[user.role]}. Sensitive personal data ${user.seesSensitive ? "is shown." : "is hidden."}</dd>
      </dl>
      ${page.wantsNotices === undefined ? "" : renderNotices(page.wantsNotices)} ${renderPasskeys(page)}
      <h2>Password</h2>
      <form method="post" action="/account/password">
        <input type="email" autocomplete="username" value="${user.email}" readonly hidden />
        ${renderField({ ...passwordField, name: "current", label: "Current password" }, mistakes)}
        ${renderNewPassword(page.minPasswordChars, mistakes)}
        <button type="submit">Change the password</button>
        <p class="hint">Your other sessions end.</p>
      </form>
      ${renderSessions(page)}
      ${page.hasApps ? html`<h2>Apps</h2><p><a href="/connected-apps">Connected apps</a></p>` : ""}
      ${page.hasProductToken ? html`<p><a href="/product-token">Product token</a></p>` : ""}`,
    { user, script: hasPasskeys ? passkeyAsset : undefined, mistakes },
  );
}

function renderNotices(isWanted: boolean) {
  return html`<h2>Messages</h2>
    <form method="post" action="/account/notices">
      <label>
        <input type="checkbox" name="wanted" value="yes" ${isWanted ? "checked" : ""} />
        Send me mail when agents ask for a decision
      </label>
      <p class="hint">At most one message in five minutes. It has a link, and nothing of what is asked.</p>
      <button type="submit">Save</button>
    </form>`;
}

function renderPasskeys({ passkeys, hasPasskeys }: AccountPage) {
  return html`<h2>Passkeys</h2>
    ${renderPasskeyStatus("The passkey was not added. Sign in again if you signed in long ago, then retry.")}
    ${
      passkeys.length > 0
        ? html`<ul class="rows">
            ${passkeys.map(
              ({ passkeyId, name, createdAt }) =>
                html`<li class="row">
                  <span>${name}${createdAt ? `, added ${formatTime(createdAt)}` : ""}</span>
                  <form method="post" action="/account/passkeys/${passkeyId}/remove">
                    <button class="quiet" aria-label="Remove the passkey ${name}">Remove</button>
                  </form>
                </li>`,
            )}
          </ul>`
        : html`<p>You have no passkey.</p>`
    }
    ${
      hasPasskeys
        ? html`<form data-passkey-add hidden>
              <label for="passkey-name">Name of a new passkey</label>
              <input id="passkey-name" name="name" maxlength="100" placeholder="This computer" />
              <button type="submit">Add a passkey</button>
            </form>
            <noscript><p class="hint">Adding a passkey needs JavaScript.</p></noscript>`
        : html`<p class="hint">
            Passkeys need a server with a name: open this one as <code>localhost</code> or by its public address.
          </p>`
    }`;
}

function renderSessions({ sessions }: AccountPage) {
  return html`<h2>Sessions</h2>
    <ul class="rows">
      ${sessions.map(
        ({ sessionId, createdAt, userAgent, isCurrent }) =>
          html`<li class="row">
            <span>${describeBrowser(userAgent)}, since ${formatTime(createdAt)}${isCurrent ? " (this one)" : ""}</span>
            ${
              isCurrent
                ? ""
                : html`<form method="post" action="/account/sessions/${sessionId}/end">
                    <button class="quiet" aria-label="End the session since ${formatTime(createdAt)}">End</button>
                  </form>`
            }
          </li>`,
      )}
    </ul>
    ${
      sessions.length > 1
        ? html`<form method="post" action="/account/sessions/end-others">
            <button class="quiet">End all other sessions</button>
          </form>`
        : ""
    }`;
}

function formatTime(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** Names the browser and the system of a `User-Agent`, as far as they are among the usual ones. */
function describeBrowser(userAgent: string): string {
  const browser = /(Edg|OPR|Firefox|Chrome|Safari)(?=\/)/.exec(userAgent)?.[1] ?? "A program";
  const system = /(Android|iPhone|iPad|Windows|Mac OS X|Linux)/.exec(userAgent)?.[1];
  const names: Readonly<Record<string, string>> = { Edg: "Edge", OPR: "Opera", "Mac OS X": "macOS" };
  return [browser, system].flatMap((name) => (name === undefined ? [] : [names[name] ?? name])).join(" on ");
}
