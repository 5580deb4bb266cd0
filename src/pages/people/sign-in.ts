import { html } from "hono/html";
import { passkeyAsset } from "../assets.ts";
import { renderNotice } from "../components/notice.ts";
import { renderPage } from "../layout.ts";

export interface SignInPage {
  /** The local path to open afterwards. */
  readonly next: string;
  /** What the person entered before. */
  readonly email?: string;
  readonly error?: string | undefined;
  /** The name of the external provider, if there is one. */
  readonly provider: string | undefined;
  /** The server is known by a name, which passkeys need. */
  readonly hasPasskeys: boolean;
}

export function renderSignInPage({ next, email = "", error, provider, hasPasskeys }: SignInPage) {
  return renderPage(
    "Sign in",
    html`${error ? renderNotice(error, "error") : ""}
      ${hasPasskeys ? renderPasskeyStatus("The passkey was not accepted. Try again, or use your password.") : ""}
      <form method="post" action="/sign-in">
        <input type="hidden" name="next" value="${next}" />
        <label for="email">E-mail address</label>
        <input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${email}" />
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required maxlength="128" />
        <button type="submit">Sign in</button>
        ${
          hasPasskeys
            ? html`<button type="button" class="quiet" data-passkey-sign-in data-next="${next}" hidden>
                Use a passkey
              </button>`
            : ""
        }
      </form>
      ${
        provider
          ? html`<p>
              <a class="button quiet" href="/sign-in/organisation?${new URLSearchParams({ next })}">
                Sign in with ${provider}
              </a>
            </p>`
          : ""
      }
      <p class="hint">
        Accounts are made by invitation. If you have lost your password, ask an owner of your organisation for a new
        link.
      </p>`,
    { script: hasPasskeys ? passkeyAsset : undefined },
  );
}

/** Renders the place where the script reports that a passkey did not work. */
export function renderPasskeyStatus(text: string) {
  return html`<p class="notice error" role="alert" tabindex="-1" data-passkey-status hidden>${text}</p>`;
}
