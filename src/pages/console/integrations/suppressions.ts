import { html } from "hono/html";
import type { User } from "../../../contract/access/roles.ts";
import type { Suppression } from "../../../contract/emails.ts";
import { renderTable } from "../../components/data-table.ts";
import { type FormMistakes, renderField } from "../../components/form-fields.ts";
import { formatMinute } from "../../components/format.ts";
import { renderNotice } from "../../components/notice.ts";
import { renderPage } from "../../layout.ts";
import { renderCarefulAction, renderNextPage } from "../components.ts";

export const suppressionsPath = "/integrations/mail/suppressed";

const reasons: Readonly<Record<Suppression["reason"], string>> = {
  bounced: "The mailbox does not exist",
  unsubscribed: "Its owner asked for it",
  manual: "Added by hand",
};

export interface SuppressionsPage {
  readonly user: User;
  readonly suppressions: readonly Pick<Suppression, "suppressionId" | "email" | "reason" | "createdAt">[];
  readonly cursor: string | undefined;
  readonly email?: string | undefined;
  readonly done?: string | undefined;
  readonly mistakes?: FormMistakes;
}

/** Renders the addresses to which nothing is sent, the latest first. Without the right to see them they are hidden. */
export function renderSuppressionsPage({ user, suppressions, cursor, email = "", ...page }: SuppressionsPage) {
  const { seesSensitive } = user;
  const { done, mistakes } = page;
  return renderPage(
    "Suppressed addresses",
    html`${done ? renderNotice(done, "done") : ""}
      <p>No message is sent to these addresses.</p>
      <form method="post" action="${suppressionsPath}" class="filter">
        <div>
          ${renderField(
            {
              ...{ name: "email", label: "E-mail address", type: "email", value: email },
              attributes: { autocomplete: "off", required: true, maxlength: 254 },
            },
            mistakes,
          )}
        </div>
        <button>Suppress the address</button>
      </form>
      ${renderTable({
        caption: "Suppressed addresses",
        headings: ["Address", "Reason", "Since", ...(seesSensitive ? ["Allow again"] : [])],
        rows: suppressions.map((suppression) => [
          seesSensitive ? suppression.email : "Hidden",
          reasons[suppression.reason],
          formatMinute(suppression.createdAt),
          ...(seesSensitive ? [renderRemoval(suppression)] : []),
        ]),
        empty: "No address is suppressed.",
      })}
      ${seesSensitive ? "" : html`<p class="hint">You do not see the addresses. Ask a person who does to allow one again.</p>`}
      ${renderNextPage(suppressionsPath, {}, cursor)}
      <p><a href="/integrations/mail">All messages</a></p>`,
    { user, section: "/integrations", mistakes },
  );
}

function renderRemoval({ suppressionId, email, reason }: SuppressionsPage["suppressions"][number]) {
  const consequence = reason === "unsubscribed" ? "Its owner asked for no more mail." : "Later messages are sent.";
  return renderCarefulAction(`${suppressionsPath}/${suppressionId}/remove`, `Allow ${email}`, consequence);
}
