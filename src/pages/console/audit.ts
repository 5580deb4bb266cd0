import { html } from "hono/html";
import type { User } from "../../contract/access/roles.ts";
import type { AuditEntry } from "../../contract/audit.ts";
import { type Choice, renderSelect } from "../components/choices.ts";
import { renderTable } from "../components/data-table.ts";
import { type FormField, type FormMistakes, renderField } from "../components/form-fields.ts";
import { formatMinute } from "../components/format.ts";
import { renderPage } from "../layout.ts";
import { renderNextPage } from "./components.ts";

/** The filters of the list of audit entries. Empty texts narrow nothing. */
export interface AuditSearch {
  /** Id of the person, token or connected app. */
  readonly actor: string;
  /** Id of the record. */
  readonly record: string;
  readonly action: string;
  /** Days, as in `2026-11-20`. */
  readonly from: string;
  readonly to: string;
}

export interface AuditPage {
  readonly user: User;
  /** The records are those of another service, which has an audit of its own. */
  readonly isRemote: boolean;
  readonly search: AuditSearch;
  /** The people, the tokens and the connected apps by which the list can be narrowed. */
  readonly actors: readonly Choice[];
  readonly entries: readonly AuditEntry[];
  readonly cursor: string | undefined;
  /** The mistakes in the filters. */
  readonly mistakes: FormMistakes;
}

/** Renders who did what. */
export function renderAuditPage({ user, isRemote, search, actors, entries, cursor, mistakes }: AuditPage) {
  const labels = new Map(actors.map(({ value, label }) => [value, label]));
  return renderPage(
    "Audit",
    html`${isRemote ? remoteHint : ""}${renderSearch(search, actors, mistakes)}
      ${renderTable({
        caption: "Audit entries",
        headings: ["Time", "Who", "Action", "Record", "Changes", "Reason"],
        rows: entries.map((entry) => [
          html`<time>${formatMinute(entry.occurredAt)}</time>`,
          renderActor(entry, labels),
          renderAction(entry),
          renderRecord(entry),
          renderChanges(entry),
          entry.reason ?? "",
        ]),
        empty: "No entries match.",
      })}
      ${renderNextPage("/audit", { ...search }, cursor)}`,
    { user, section: "/audit", mistakes },
  );
}

const remoteHint = html`<p>
  This is the audit of this server: approvals, sign-ins, people, product tokens, and calls of connected apps. The
  service with the records has its own, which names the product tokens.
</p>`;

function renderSearch(
  { actor, record, action, from, to }: AuditSearch,
  actors: readonly Choice[],
  mistakes: FormMistakes,
) {
  const fields: readonly FormField[] = [
    {
      ...{ name: "action", label: "Action", value: action },
      attributes: { maxlength: 64, placeholder: "submission.advanced" },
    },
    { name: "record", label: "Id of the record", value: record, attributes: { maxlength: 64 } },
    { name: "from", label: "From", type: "date", value: from },
    { name: "to", label: "To", type: "date", value: to },
  ];
  return html`<form method="get" action="/audit" class="filter" role="search">
    <div>${renderSelect("actor", "Person, token or app", [{ value: "", label: "Anyone" }, ...actors], actor)}</div>
    ${fields.map((field) => html`<div>${renderField(field, mistakes)}</div>`)}
    <button>Show</button>
    <a href="/audit">Show all</a>
    <p class="hint">
      Reads and refusals are listed if you name their action, such as <code>submission.read</code>. Show
      ${renderShortcut("user.signed_in", "sign-ins")} or ${renderShortcut("user.sign_in_refused", "refused sign-ins")}.
    </p>
  </form>`;
}

function renderShortcut(action: string, label: string) {
  return html`<a href="/audit?${new URLSearchParams({ action })}">${label}</a>`;
}

const actorKinds = {
  token: "token",
  user: "person",
  applicant: "applicant",
  reviewer: "reviewer",
  system: "this server",
} as const;

function renderActor(entry: AuditEntry, labels: ReadonlyMap<string, string>) {
  const { actorType, actorId, actorName, tokenId, approvedBy, approverName } = entry;
  const hasApp = actorType === "user" && tokenId !== null;
  return html`<bdi>${actorName ?? actorId}</bdi> <span class="hint">(${actorKinds[actorType]})</span>${
    hasApp ? html`<br />With <bdi>${labels.get(tokenId) ?? tokenId}</bdi>` : ""
  }${approvedBy === undefined ? "" : html`<br />Approved by <bdi>${approverName ?? approvedBy}</bdi>`}`;
}

function renderAction({ action, status, replayed }: AuditEntry) {
  const outcome = [status === null || status < 400 ? "" : `refused (${status})`, replayed ? "repeated" : ""];
  return html`<code>${action}</code> ${outcome.filter(Boolean).join(", ")}`;
}

function renderRecord({ entityId, entityType }: AuditEntry) {
  if (entityId === null) return entityType;
  // The ids of one time differ in their last characters.
  const text = entityId.length > 20 ? `${entityId.slice(0, 4)}…${entityId.slice(-6)}` : entityId;
  return html`<a class="id" href="/audit?${new URLSearchParams({ record: entityId })}" title="${entityId}">${text}</a>`;
}

function renderChanges({ changes }: AuditEntry) {
  if (changes.length === 0) return "";
  return html`<details>
    <summary>${describePaths(changes.map(({ path }) => path))}</summary>
    <dl>
      ${changes.map(
        (change) =>
          html`<dt>${change.path}</dt>
            <dd>
              ${"from" in change || "to" in change ? `${formatValue(change.from)} → ${formatValue(change.to)}` : "Personal data, not kept"}
            </dd>`,
      )}
    </dl>
  </details>`;
}

const maxPaths = 2;

function describePaths(paths: readonly string[]): string {
  const more = paths.length - maxPaths;
  return `${paths.slice(0, maxPaths).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const maxValueChars = 500;

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > maxValueChars ? `${text.slice(0, maxValueChars)}…` : text;
}
