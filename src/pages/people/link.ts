import { html } from "hono/html";
import { renderNotice } from "../components/notice.ts";
import { renderPage } from "../layout.ts";

export interface LinkPage {
  /** `owner`: sets up the first account. `invitation`: a new person. `password`: a person who had a password. */
  readonly kind: "owner" | "invitation" | "password";
  readonly name: string;
  /** The address of the person; what the first owner entered before. */
  readonly email: string;
  readonly error?: string | undefined;
  readonly minPasswordChars: number;
}

const titles = {
  owner: "Set up the first account",
  invitation: "Accept the invitation",
  password: "Choose a new password",
} as const;

const introductions = {
  owner: "You become the owner: you see everything, and invite others.",
  invitation: "You have been invited to work on your organisation's calls for applications.",
  password: "Your other sessions end when you choose a new password.",
} as const;

export function renderLinkPage({ kind, name, email, error, minPasswordChars }: LinkPage) {
  return renderPage(
    titles[kind],
    html`${error ? renderNotice(error, "error") : ""}
      <p>${introductions[kind]}</p>
      <form method="post">
        <label for="name">Your name</label>
        <input id="name" name="name" autocomplete="name" required maxlength="200" value="${name}" />
        <label for="email">E-mail address</label>
        ${
          kind === "owner"
            ? html`<input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${email}" />`
            : html`<input id="email" type="email" autocomplete="username" readonly value="${email}" />`
        }
        ${renderNewPassword(minPasswordChars)}
        <button type="submit">${kind === "password" ? "Save and sign in" : "Create the account"}</button>
      </form>`,
  );
}

/** Renders the fields of a new password, which is entered twice. */
export function renderNewPassword(minChars: number) {
  return html`<label for="password">New password</label>
    <input
      id="password"
      name="password"
      type="password"
      autocomplete="new-password"
      required
      minlength="${minChars}"
      maxlength="128"
      aria-describedby="password-hint"
    />
    <p class="hint" id="password-hint">At least ${minChars} characters; several words are best.</p>
    <label for="repeated">The same password again</label>
    <input id="repeated" name="repeated" type="password" autocomplete="new-password" required maxlength="128" />`;
}

/** Unknown, expired and used links get this same page. */
export function renderInvalidLinkPage() {
  return renderPage(
    "This link does not work",
    html`<p>It may have been used, or it has expired. Ask the person who sent it for a new one.</p>
      <p><a href="/sign-in">Sign in</a></p>`,
  );
}
