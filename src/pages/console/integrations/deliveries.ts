import { html } from "hono/html";
import type { User } from "../../../contract/access/roles.ts";
import type { LoggedEvent } from "../../../contract/event-log.ts";
import {
  type DeliveryError,
  deliveryErrors,
  deliveryStatuses,
  type WebhookAttempt,
  type WebhookDelivery,
} from "../../../contract/webhooks.ts";
import { renderSelect } from "../../components/choices.ts";
import { renderTable } from "../../components/data-table.ts";
import { formatMinute } from "../../components/format.ts";
import { renderNotice } from "../../components/notice.ts";
import { renderPage } from "../../layout.ts";
import { renderAction } from "../components.ts";

/** A delivery with the type of its event. */
export type ShownDelivery = WebhookDelivery & { readonly eventType: string };

const statusChoices = [{ value: "", label: "All" }, ...deliveryStatuses.map((value) => ({ value, label: value }))];

/** Renders the latest deliveries to an endpoint. `path` is that of the endpoint. */
export function renderDeliveries(path: string, deliveries: readonly ShownDelivery[], status: string) {
  return html`<form method="get" action="${path}" class="filter">
      <div>${renderSelect("status", "State", statusChoices, status)}</div>
      <button>Show</button>
    </form>
    ${renderTable({
      caption: "Deliveries",
      headings: ["Event", "State", "Attempts", "Last answer", "Time"],
      rows: deliveries.map((delivery) => [
        html`<a href="/integrations/deliveries/${delivery.deliveryId}">${delivery.eventType}</a>`,
        delivery.status,
        delivery.attempt,
        describeAnswer(delivery.lastStatusCode, delivery.lastError),
        delivery.status === "pending"
          ? `Due ${formatMinute(delivery.dueAt)}`
          : formatMinute(delivery.deliveredAt ?? delivery.updatedAt),
      ]),
      empty: "There are no deliveries.",
    })}`;
}

/** Describes how an endpoint answered. */
function describeAnswer(statusCode: number | null, error: DeliveryError | null): string {
  if (statusCode !== null) return `${statusCode}`;
  return error === null ? "" : deliveryErrors[error];
}

export interface DeliveryPage {
  readonly user: User;
  readonly delivery: ShownDelivery;
  readonly attempts: readonly WebhookAttempt[];
  /** Undefined for an event that is not stored any more. */
  readonly event: LoggedEvent | undefined;
  readonly done?: string | undefined;
}

export function renderDeliveryPage({ user, delivery, attempts, event, done }: DeliveryPage) {
  const { deliveryId, endpointId, eventId, eventType, status, dueAt } = delivery;
  return renderPage(
    `Delivery of ${eventType}`,
    html`${done ? renderNotice(done, "done") : ""}
      <dl>
        <dt>Event</dt>
        <dd>${eventId}</dd>
        <dt>Endpoint</dt>
        <dd><a href="/integrations/endpoints/${endpointId}">${endpointId}</a></dd>
        <dt>State</dt>
        <dd>${status}${status === "pending" ? `, due ${formatMinute(dueAt)}` : ""}${delivery.replay ? ", sent again by request" : ""}</dd>
      </dl>
      ${renderAction(`/integrations/deliveries/${deliveryId}/replay`, "Send the event again", eventId)}
      <h2>Body</h2>
      ${event ? html`<pre tabindex="0"><code>${JSON.stringify(event, null, 2)}</code></pre>` : html`<p>The event is not stored any more.</p>`}
      <h2>Attempts</h2>
      ${renderTable({
        caption: "Attempts",
        headings: ["Time", "Took", "Answer", "The answer begins"],
        rows: attempts.map(({ startedAt, durationMs, statusCode, error, answer }) => [
          formatMinute(startedAt),
          `${durationMs} ms`,
          describeAnswer(statusCode, error),
          answer ? html`<pre tabindex="0">${answer}</pre>` : "",
        ]),
        empty: "There was no attempt yet.",
      })}`,
    { user, section: "/integrations" },
  );
}
