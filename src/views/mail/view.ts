import { html } from "hono/html";
import type * as z from "zod";
import type { BulkEmailOutcome } from "../../contract/emails.ts";
import { renderTable } from "../../pages/components/data-table.ts";
import { formatCode } from "../../pages/components/format.ts";
import type { Values } from "../base/connection.ts";
import { type Drawing, startView } from "../base/start-view.ts";

type Outcome = z.output<typeof BulkEmailOutcome>;

/** A message of the call, with its recipients as the caller gave them. */
interface Mailing {
  readonly subject?: string;
  readonly body?: string;
  readonly reviewerIds?: readonly string[];
  readonly applicantEmails?: readonly string[];
}

await startView<Outcome, object>({
  name: "mail",
  state: {},
  render: renderOutcome,
  renderQuestionDetails: ({ reviewers, applicants }: Values) =>
    html`${renderMailing("reviewers", reviewers as Mailing | undefined)}${renderMailing("applicants", applicants as Mailing | undefined)}`,
});

function renderOutcome({ data: { queued, suppressed, skipped } }: Drawing<Outcome, object>) {
  return html`<h1>Bulk e-mail</h1>
    <dl class="facts">
      <dt>Queued</dt>
      <dd>${queued}</dd>
      <dt>Suppressed: not sent</dt>
      <dd>${suppressed}</dd>
      <dt>Left out</dt>
      <dd>${skipped.length}</dd>
    </dl>
    ${
      skipped.length > 0
        ? html`<h2>Left out</h2>
            ${renderTable({
              caption: "Recipients that were left out",
              headings: ["Recipient", "Why"],
              rows: skipped.map(({ recipient, reason }) => [recipient, formatCode(reason)]),
              empty: "",
            })}`
        : ""
    }`;
}

/** Renders a message in full: the question shows its beginning, and names some of the recipients. */
function renderMailing(kind: string, mailing: Mailing | undefined) {
  if (!mailing) return "";
  const { subject = "", body = "", reviewerIds = [], applicantEmails = [] } = mailing;
  const recipients = [...reviewerIds, ...applicantEmails];
  return html`<h2>Message to ${kind}</h2>
    <p><strong>${subject}</strong></p>
    <div class="answer message" role="region" aria-label="Text for ${kind}" tabindex="0">${body}</div>
    ${
      recipients.length > 0
        ? html`<details id="recipients-${kind}">
            <summary>${recipients.length} recipients as the call names them</summary>
            <ul>
              ${recipients.map((recipient) => html`<li>${recipient}</li>`)}
            </ul>
          </details>`
        : ""
    }`;
}
