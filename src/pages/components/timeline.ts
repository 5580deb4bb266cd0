import { html } from "hono/html";
import type { Result } from "../../contract/index.ts";
import type { SubmissionBrief } from "../../contract/workflows/submission-brief.ts";
import { formatCode, formatMinute } from "./format.ts";
import { renderValue } from "./value.ts";

export type History = Result<"get_history">;

/** A change, as a timeline shows it. */
export interface TimelineEntry {
  readonly occurredAt: string;
  /** Who made the change. */
  readonly actor: string;
  /** The person who approved it in the browser. */
  readonly approver?: string | undefined;
  readonly action: string;
  /** Changed fields. Personal ones have no values. */
  readonly fields: readonly { readonly path: string; readonly from?: unknown; readonly to?: unknown }[];
  readonly reason: string | null;
}

/** Returns the changes of a history as entries of a timeline. */
export function toTimeline({ changes }: History): TimelineEntry[] {
  return changes.map(({ actorName, actorType, approverName, ...entry }) => ({
    ...entry,
    actor: actorName ?? formatCode(actorType),
    approver: approverName,
  }));
}

/** Returns the changes of a submission's state as entries of a timeline, the newest first. */
export function toStateTimeline(history: NonNullable<SubmissionBrief["history"]>): TimelineEntry[] {
  return history
    .map(({ at, by, action, from, to, reason }) => {
      return { occurredAt: at, actor: by, action, fields: [{ path: "state", from, to }], reason };
    })
    .reverse();
}

/** Renders changes in the order given. */
export function renderTimeline(entries: readonly TimelineEntry[]) {
  if (entries.length === 0) return html`<p>Nothing has changed.</p>`;
  return html`<ol class="timeline">
    ${entries.map(
      ({ occurredAt, actor, approver, action, fields, reason }) =>
        html`<li>
          <p class="hint"><time datetime="${occurredAt}">${formatMinute(occurredAt)}</time></p>
          <p>
            <strong>${formatCode(action)}</strong> by <bdi>${actor}</bdi>${
              approver ? html`, approved by <bdi>${approver}</bdi>` : ""
            }
          </p>
          ${reason ? html`<p>“<bdi>${reason}</bdi>”</p>` : ""} ${renderChanges(fields)}
        </li>`,
    )}
  </ol>`;
}

/** Changes with more fields are shown when they are opened. */
const maxOpenFields = 3;

/** Renders changed fields. Personal ones have no values. */
function renderChanges(fields: TimelineEntry["fields"]) {
  if (fields.length === 0) return "";
  const list = html`<ul class="changes">
    ${fields.map(
      ({ path, from, to }) =>
        html`<li>
          ${path}${from === undefined && to === undefined ? "" : html`: ${renderValue(from)} → ${renderValue(to)}`}
        </li>`,
    )}
  </ul>`;
  if (fields.length <= maxOpenFields) return list;
  return html`<details>
    <summary>${fields.length} fields</summary>
    ${list}
  </details>`;
}
