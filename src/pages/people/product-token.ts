import { html } from "hono/html";
import type { ProductTokenOwner, ShownProductToken } from "../../contract/access/product-tokens.ts";
import type { User } from "../../contract/access/roles.ts";
import { listScopeGroups } from "../../contract/access/scope-groups.ts";
import { type FormMistakes, renderField } from "../components/form-fields.ts";
import { formatMinute } from "../components/format.ts";
import { renderNotice } from "../components/notice.ts";
import { renderAction, renderCarefulAction } from "../console/components.ts";
import { renderPage } from "../layout.ts";

export interface ProductTokenPage {
  readonly user: User;
  /** The host of the product. */
  readonly host: string;
  readonly own: ShownProductToken | undefined;
  readonly organisation: ShownProductToken | undefined;
  /** The page of consent from which the person came. Empty if there is none. */
  readonly next: string;
  readonly done?: string | undefined;
  readonly mistakes?: FormMistakes;
}

/** Renders the page on which people save the product token for their apps, and owners the one of the organisation. */
export function renderProductTokenPage(page: ProductTokenPage) {
  const { user, host, own, organisation, next, done, mistakes } = page;
  return renderPage(
    "Product token",
    html`${done ? renderNotice(done, "done") : ""}
      <p>
        Apps that people connect here work in <strong>${host}</strong> with a token that was made there, under
        Integrations. It is stored encrypted, and no page shows it again.
      </p>
      ${next !== "" && (own ?? organisation) ? html`<p><a class="button" href="${next}">Go on connecting the app</a></p>` : ""}
      <h2>Your token</h2>
      ${own ? renderSaved("person", own) : html`<p>You have saved no token.</p>`}
      ${renderForm(page, "person", own)}
      <h2>The organisation's token</h2>
      <p>The apps of people without a token of their own use it, each within the rights of its person's role.</p>
      ${organisation ? renderSaved("organisation", organisation, user) : html`<p>There is none.</p>`}
      ${
        user.role === "owner"
          ? renderForm(page, "organisation", organisation)
          : html`<p class="hint">An owner saves and removes it.</p>`
      }
      <p><a href="/account">Your account</a></p>`,
    { user, mistakes },
  );
}

/** Renders a saved token. Everyone sees the organisation's; `user` is who looks at that one. */
function renderSaved(
  owner: ProductTokenOwner,
  { prefix, scopes, savedAt, testedAt, isUnreadable }: ShownProductToken,
  user?: User,
) {
  const path = `/product-token/${owner}`;
  const mayChange = owner === "person" || user?.role === "owner";
  const subject = owner === "person" ? "your token" : "the organisation's token";
  const groups = listScopeGroups(new Set(scopes));
  return html`<dl>
      <dt>Begins with</dt>
      <dd><code>${prefix}…</code></dd>
      <dt>Saved</dt>
      <dd>${formatMinute(savedAt)}</dd>
      <dt>Tested</dt>
      <dd>${formatMinute(testedAt)}</dd>
      <dt>Allows</dt>
      <dd>
        ${groups.map(({ label }) => label).join(" · ") || "Nothing"}
        <details>
          <summary>Scopes</summary>
          <p>${scopes.join(", ")}</p>
          <p class="hint">The product does not report a token's scopes. Those for reading were tried; the others were not.</p>
        </details>
      </dd>
    </dl>
    ${
      isUnreadable
        ? html`<p class="notice error">
            This server cannot decrypt it any more, because its key or the product's address has changed. Save the token
            again.
          </p>`
        : ""
    }
    ${
      mayChange
        ? html`${isUnreadable ? "" : renderAction(`${path}/test`, "Test again", subject)}
          ${renderCarefulAction(`${path}/remove`, "Remove the token", "Apps that use it stop working with their next call. It stays valid in the product.")}`
        : ""
    }`;
}

function renderForm(
  { next, mistakes }: ProductTokenPage,
  owner: ProductTokenOwner,
  saved: ShownProductToken | undefined,
) {
  return html`<form method="post" action="/product-token/${owner}">
    <input type="hidden" name="next" value="${next}" />
    ${renderField(
      {
        ...{ name: "token", id: `${owner}-token`, label: "Token", type: "password" },
        hint: "64 hexadecimal digits. It is tested in the product before it is saved.",
        attributes: { autocomplete: "off", required: true, maxlength: 100 },
      },
      mistakes,
    )}
    <button>${saved ? "Replace the token" : "Save the token"}</button>
  </form>`;
}
