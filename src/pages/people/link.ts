import { html } from "hono/html";
import { type FormMistakes, renderField } from "../components/form-fields.ts";
import { renderPage } from "../layout.ts";
import { emailField } from "./sign-in.ts";

export interface LinkPage {
  /** `owner`: sets up the first account. `invitation`: a new person. `password`: a person who had a password. */
  readonly kind: "owner" | "invitation" | "password";
  readonly name: string;
  /** The address of the person; what the first owner entered before. */
  readonly email: string;
  readonly mistakes?: FormMistakes;
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

export function renderLinkPage({ kind, name, email, mistakes, minPasswordChars }: LinkPage) {
  return renderPage(
    titles[kind],
    html`<p>${introductions[kind]}</p>
      <form method="post">
        ${renderField({ name: "name", label: "Your name", value: name, attributes: { autocomplete: "name", required: true, maxlength: 200 } }, mistakes)}
        ${renderField({ ...emailField, value: email, attributes: { ...emailField.attributes, readonly: kind !== "owner" } }, mistakes)}
        ${renderNewPassword(minPasswordChars, mistakes)}
        <button type="submit">${kind === "password" ? "Save and sign in" : "Create the account"}</button>
      </form>`,
    { mistakes },
  );
}

/** Renders the fields of a new password, which is entered twice. */
export function renderNewPassword(minChars: number, mistakes?: FormMistakes) {
  const attributes = { autocomplete: "new-password", required: true, maxlength: 128 };
  const hint = `At least ${minChars} characters; several words are best.`;
  return html`${renderField({ name: "password", label: "New password", type: "password", hint, attributes: { ...attributes, minlength: minChars } }, mistakes)}
  ${renderField({ name: "repeated", label: "The same password again", type: "password", attributes }, mistakes)}`;
}

/** Unknown, expired and used links get this same page. */
export function renderInvalidLinkPage() {
  return renderPage(
    "This link does not work",
    html`<p>It may have been used, or it has expired. Ask the person who sent it for a new one.</p>
      <p><a href="/sign-in">Sign in</a></p>`,
  );
}
