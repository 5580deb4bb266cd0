import { html } from "hono/html";
import type { User } from "../../../contract/access/roles.ts";
import { EmailSend } from "../../../contract/emails.ts";
import { renderSelect } from "../../components/choices.ts";
import { renderTable } from "../../components/data-table.ts";
import { formatCode, formatMinute } from "../../components/format.ts";
import { renderNotice } from "../../components/notice.ts";
import { renderPage } from "../../layout.ts";
import { renderAction, renderNextPage } from "../components.ts";
import { suppressionsPath } from "./suppressions.ts";

export const mailStatuses = EmailSend.shape.status.options;

export interface MailPage {
  readonly user: User;
  readonly sends: readonly EmailSend[];
  readonly status: EmailSend["status"];
  readonly cursor: string | undefined;
  readonly done?: string | undefined;
}

/** Renders the messages of one state, the latest first. */
export function renderMailPage({ user, sends, status, cursor, done }: MailPage) {
  const isRetried = status === "failed" || status === "bounced" || status === "suppressed";
  return renderPage(
    "Mail",
    html`${done ? renderNotice(done, "done") : ""}
      <form method="get" action="/integrations/mail" class="filter">
        <div>${renderSelect(
          "status",
          "State",
          mailStatuses.map((value) => ({ value, label: formatCode(value) })),
          status,
        )}</div>
        <button>Show</button>
      </form>
      ${renderTable({
        caption: "Messages",
        headings: ["Subject", "To", "Queued", "Sent", "Error", ...(isRetried ? ["Retry"] : [])],
        rows: sends.map(({ emailSendId, subject, recipientEmail, queuedAt, sentAt, error }) => [
          subject,
          recipientEmail,
          html`<time>${formatMinute(queuedAt)}</time>`,
          html`<time>${formatMinute(sentAt)}</time>`,
          error ?? "",
          ...(isRetried ? [renderAction(`/integrations/mail/${emailSendId}/retry`, "Send again", subject)] : []),
        ]),
        empty: `There are no messages in the state ${status}.`,
      })}
      ${renderNextPage("/integrations/mail", { status }, cursor)}
      <ul>
        <li><a href="${suppressionsPath}">Suppressed addresses</a></li>
        <li><a href="/integrations">All integrations</a></li>
      </ul>`,
    { user, section: "/integrations" },
  );
}
