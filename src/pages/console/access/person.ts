import { html } from "hono/html";
import { type Role, roles, type User } from "../../../contract/access/roles.ts";
import { type FormMistakes, renderField } from "../../components/form-fields.ts";
import { formatMinute } from "../../components/format.ts";
import { renderNotice } from "../../components/notice.ts";
import { renderPage } from "../../layout.ts";
import { renderAction, renderCarefulAction, renderSecret } from "../components.ts";
import { roleLabels } from "./overview.ts";

const roleField = {
  name: "role",
  label: "Role",
  type: "select",
  choices: roles.map((value) => ({ value, label: `${roleLabels[value]}: ${describeRole(value)}` })),
} as const;

function describeRole(role: Role): string {
  const rights = {
    owner: "reads and changes everything, and manages access",
    staff: "reads and changes everything",
    viewer: "reads everything",
  };
  return rights[role];
}

export interface InvitePage {
  readonly user: User;
  readonly form: { readonly email: string; readonly role: string };
  /** The invitation is mailed. Otherwise its link is shown. */
  readonly isMailed: boolean;
  readonly mistakes?: FormMistakes;
}

export function renderInvitePage({ user, form, isMailed, mistakes }: InvitePage) {
  return renderPage(
    "Invite a person",
    html`<form method="post" action="/access/people">
        ${renderField(
          {
            ...{ name: "email", label: "E-mail address", type: "email", value: form.email },
            attributes: { autocomplete: "off", required: true, maxlength: 254 },
          },
          mistakes,
        )}
        ${renderField({ ...roleField, value: form.role }, mistakes)} ${renderSensitive(user, false)}
        <button>Make the invitation</button>
        <p class="hint">
          ${isMailed ? "The person gets a link by mail." : "You get a link to send to the person. Nothing is sent from here."}
        </p>
      </form>
      ${renderBack()}`,
    { user, section: "/access", mistakes },
  );
}

export interface PersonPage {
  readonly user: User;
  readonly person: User;
  /** The person's rights are among those that the user may grant. */
  readonly isManageable: boolean;
  readonly mistakes?: FormMistakes;
}

export function renderPersonPage({ user, person, isManageable, mistakes }: PersonPage) {
  const { userId, name, email, createdAt, disabledAt } = person;
  return renderPage(
    name || email,
    html`<dl>
        <dt>E-mail address</dt>
        <dd>${email}</dd>
        <dt>State</dt>
        <dd>${disabledAt === null ? "Enabled" : `Disabled ${formatMinute(disabledAt)}`}</dd>
        <dt>Added</dt>
        <dd>${formatMinute(createdAt)}</dd>
      </dl>
      <p><a href="/audit?actor=${userId}">What this person changed</a></p>
      ${
        isManageable
          ? renderChanges(user, person, mistakes)
          : html`<p>This person sees sensitive personal data, and you do not: ask an owner who does to change this.</p>`
      }
      ${renderBack()}`,
    { user, section: "/access", mistakes },
  );
}

function renderChanges(
  user: User,
  { userId, name, email, role, seesSensitive, disabledAt }: User,
  mistakes: FormMistakes | undefined,
) {
  const path = `/access/people/${userId}`;
  const subject = name || email;
  return html`<form method="post" action="${path}">
      ${renderField({ ...roleField, value: role }, mistakes)} ${renderSensitive(user, seesSensitive)}
      <button>Save</button>
    </form>
    <h2>Sign-in</h2>
    ${
      disabledAt === null
        ? html`${renderAction(`${path}/link`, "Make a new link", subject)}
            <p class="hint">For a person who lost the password or the invitation.</p>
            ${renderCarefulAction(`${path}/disable`, "Disable the account", "The person's sessions end at once. You can enable the account again.")}`
        : renderAction(`${path}/enable`, "Enable the account", subject)
    }
    ${renderCarefulAction(`${path}/remove`, "Remove the person", "The account is deleted with its sessions and passkeys. The audit keeps what the person did.")}`;
}

/** Renders the right to sensitive data, which only a person who has it may grant. */
function renderSensitive({ seesSensitive: mayGrant }: User, isChecked: boolean) {
  if (!mayGrant) return "";
  return renderField({ name: "sensitive", type: "checkbox", label: "Sees sensitive personal data", isChecked });
}

export interface PersonLinkPage {
  readonly user: User;
  readonly person: User;
  readonly link: string;
  /** The hours for which the link works. */
  readonly hours: number;
  /** The mail server did not accept the message with the link. */
  readonly hasFailed: boolean;
}

/** Renders a person's one-time link. */
export function renderPersonLinkPage({ user, person, link, hours, hasFailed }: PersonLinkPage) {
  return renderPage(
    "The link is made",
    html`${hasFailed ? renderNotice("The mail server did not accept the message: pass the link on yourself.", "error") : ""}
      ${renderSecret(`This is the link for ${person.email}. It works once, for ${hours} hours.`, link)}
      <p>Send it to the person. Anyone who has it can choose the account's password.</p>
      ${renderBack()}`,
    { user, section: "/access" },
  );
}

function renderBack() {
  return html`<p><a href="/access">All access</a></p>`;
}
