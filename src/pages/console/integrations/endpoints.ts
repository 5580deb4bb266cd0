import { html } from "hono/html";
import type { User } from "../../../contract/access/roles.ts";
import { type DisabledReason, disabledReasons, eventTypes } from "../../../contract/webhooks.ts";
import { renderSelect } from "../../components/choices.ts";
import { renderTable } from "../../components/data-table.ts";
import { type FormMistakes, renderChoiceGroup, renderField } from "../../components/form-fields.ts";
import { formatMinute } from "../../components/format.ts";
import { renderNotice } from "../../components/notice.ts";
import { renderPage } from "../../layout.ts";
import { renderAction, renderCarefulAction, renderSecret } from "../components.ts";
import { renderDeliveries, type ShownDelivery } from "./deliveries.ts";
import { suppressionsPath } from "./suppressions.ts";

/** A webhook endpoint without its secrets. */
export interface ListedEndpoint {
  readonly endpointId: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly status: "enabled" | "disabled";
  readonly disabledReason: DisabledReason | null;
  readonly firstFailureAt: string | null;
  readonly previousSecretUntil: string | null;
}

export interface EndpointForm {
  readonly url: string;
  readonly eventTypes: readonly string[];
}

export interface IntegrationsPage {
  readonly user: User;
  readonly endpoints: readonly ListedEndpoint[];
  readonly done?: string | undefined;
}

/** Renders what connects the organisation's data with other programs and people. */
export function renderIntegrationsPage({ user, endpoints, done }: IntegrationsPage) {
  return renderPage(
    "Integrations",
    html`${done ? renderNotice(done, "done") : ""}
      <ul>
        <li><a href="/integrations/mail">Mail: what was sent, and what was not</a></li>
        <li><a href="${suppressionsPath}">Suppressed addresses: to which nothing is sent</a></li>
        <li><a href="/integrations/exports">Exports: files with a programme's data</a></li>
      </ul>
      <h2>Webhooks</h2>
      <p>A webhook endpoint is an address of another program to which events are sent, signed with a secret.</p>
      ${user.role === "owner" ? html`<p><a class="button" href="/integrations/endpoints/new">New endpoint</a></p>` : ""}
      ${renderTable({
        caption: "Webhook endpoints",
        headings: ["Address", "Events", "State"],
        rows: endpoints.map((endpoint) => [
          html`<a href="/integrations/endpoints/${endpoint.endpointId}">${endpoint.url}</a>`,
          endpoint.eventTypes.join(", ") || "All",
          describeEndpointState(endpoint),
        ]),
        empty: "There are no webhook endpoints.",
      })}`,
    { user, section: "/integrations" },
  );
}

function describeEndpointState({ status, disabledReason, firstFailureAt }: ListedEndpoint): string {
  if (status === "disabled") return `Disabled${disabledReason === null ? "" : `: ${disabledReasons[disabledReason]}`}`;
  return firstFailureAt === null ? "Enabled" : `Enabled, failing since ${formatMinute(firstFailureAt)}`;
}

export interface NewEndpointPage {
  readonly user: User;
  readonly form: EndpointForm;
  readonly mistakes?: FormMistakes;
}

export function renderNewEndpointPage({ user, form, mistakes }: NewEndpointPage) {
  return renderPage(
    "New endpoint",
    html`<form method="post" action="/integrations/endpoints">
        ${renderField(
          {
            ...{ name: "url", label: "Address", type: "url", value: form.url },
            attributes: { required: true, maxlength: 2048, placeholder: "https://" },
          },
          mistakes,
        )}
        ${renderChoiceGroup({
          ...{ name: "event", type: "checkbox", legend: "Events", hasColumns: true },
          hint: "Without a choice, every event is sent.",
          choices: eventTypes.map((type) => ({ value: type, label: type, isChecked: form.eventTypes.includes(type) })),
        })}
        <button>Add the endpoint</button>
      </form>
      ${renderBack()}`,
    { user, section: "/integrations", mistakes },
  );
}

/** Renders the new secret of an endpoint. */
export function renderEndpointSecretPage(user: User, endpointId: string, secret: string) {
  return renderPage(
    "The secret is made",
    html`${renderSecret("This is the secret with which deliveries are signed.", secret)}
      <p><a href="/integrations/endpoints/${endpointId}">To the endpoint</a></p>`,
    { user, section: "/integrations" },
  );
}

export interface EndpointPage {
  readonly user: User;
  readonly endpoint: ListedEndpoint;
  readonly deliveries: readonly ShownDelivery[];
  /** The status by which deliveries are listed; empty for all. */
  readonly status: string;
  readonly done?: string | undefined;
  readonly error?: string | undefined;
}

export function renderEndpointPage({ user, endpoint, deliveries, status, done, error }: EndpointPage) {
  const path = `/integrations/endpoints/${endpoint.endpointId}`;
  const { url, previousSecretUntil } = endpoint;
  return renderPage(
    "Webhook endpoint",
    html`${done ? renderNotice(done, "done") : ""}${error ? renderNotice(error, "error") : ""}
      <dl>
        <dt>Address</dt>
        <dd>${url}</dd>
        <dt>Events</dt>
        <dd>${endpoint.eventTypes.join(", ") || "All"}</dd>
        <dt>State</dt>
        <dd>${describeEndpointState(endpoint)}</dd>
        ${
          previousSecretUntil
            ? html`<dt>Previous secret</dt>
                <dd>Signs as well until ${formatMinute(previousSecretUntil)}</dd>`
            : ""
        }
      </dl>
      ${endpoint.status === "enabled" ? renderAction(`${path}/test`, "Send a test event", url) : ""}
      ${user.role === "owner" ? renderOwnerActions(endpoint, path) : ""}
      <h2>Deliveries</h2>
      ${renderDeliveries(path, deliveries, status)} ${renderBack()}`,
    { user, section: "/integrations" },
  );
}

function renderOwnerActions({ status, url }: ListedEndpoint, path: string) {
  return html`${
    status === "enabled"
      ? renderCarefulAction(
          `${path}/disable`,
          "Disable the endpoint",
          "Nothing more is sent. Deliveries that wait are cancelled.",
        )
      : renderAction(`${path}/enable`, "Enable the endpoint", url)
  }
  ${status === "enabled" ? renderReplay(path) : ""}
  ${renderCarefulAction(`${path}/secret`, "Make a new secret", "The present secret signs as well for 24 hours, so that the receiver can change over.")}
  ${renderCarefulAction(`${path}/remove`, "Remove the endpoint", "It is deleted with its secret. Deliveries that wait are cancelled.")}`;
}

export const replayDays = ["1", "7", "30"] as const;

function renderReplay(path: string) {
  const choices = replayDays.map((value) => ({
    value,
    label: value === "1" ? "The last day" : `The last ${value} days`,
  }));
  return html`<form method="post" action="${path}/replay" class="filter">
    <div>${renderSelect("days", "Events that it has not received", choices)}</div>
    <button class="quiet">Send them again</button>
  </form>`;
}

function renderBack() {
  return html`<p><a href="/integrations">All integrations</a></p>`;
}
