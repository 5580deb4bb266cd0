import { html } from "hono/html";
import { passkeyAsset } from "../assets.ts";
import { type FormMistakes, renderField } from "../components/form-fields.ts";
import { renderNotice } from "../components/notice.ts";
import { renderPage } from "../layout.ts";

export interface SignInPage {
  /** The local path to open afterwards. */
  readonly next: string;
  /** The address that the person entered before. */
  readonly email?: string;
  /** The person sent a form after the session had ended. */
  readonly isUnsent?: boolean;
  readonly mistakes?: FormMistakes;
  /** The name of the external provider, if there is one. */
  readonly provider: string | undefined;
  /** The server is known by a name, which passkeys need. */
  readonly hasPasskeys: boolean;
}

export function renderSignInPage({ next, email = "", isUnsent, mistakes, provider, hasPasskeys }: SignInPage) {
  return renderPage(
    "Sign in",
    html`${isUnsent ? renderNotice("You were signed out, so nothing was saved. Sign in, then send it again.", "error") : ""}
      ${hasPasskeys ? renderPasskeyStatus("The passkey was not accepted. Try again, or use your password.") : ""}
      <form method="post" action="/sign-in">
        <input type="hidden" name="next" value="${next}" />
        ${renderField({ ...emailField, value: email }, mistakes)}
        ${renderField({ ...passwordField, name: "password", label: "Password" }, mistakes)}
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
        Accounts are made by invitation; the first one with the link that the server prints when it starts. If you have
        lost your password, ask an owner of your organisation for a new link.
      </p>`,
    { script: hasPasskeys ? passkeyAsset : undefined, mistakes },
  );
}

/** The input of the address with which a person signs in. */
export const emailField = {
  name: "email",
  label: "E-mail address",
  type: "email",
  attributes: { autocomplete: "username", required: true, maxlength: 254 },
} as const;

/** The input of a password that a person has. */
export const passwordField = {
  type: "password",
  attributes: { autocomplete: "current-password", required: true, maxlength: 128 },
} as const;

/** Renders the place where the script reports that a passkey did not work. */
export function renderPasskeyStatus(text: string) {
  return html`<p class="notice error" role="alert" tabindex="-1" data-passkey-status hidden>${text}</p>`;
}
