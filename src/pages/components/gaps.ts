import { html } from "hono/html";
import type { Gaps } from "../../contract/definition/workflow.ts";

/** Renders what a workflow's answer lacks. */
export function renderGaps({ omitted = [], truncated = [] }: Gaps) {
  return html`${omitted.map(({ what, scope }) => html`<p class="hint">Not shown: ${what} (needs ${scope}).</p>`)}${truncated.map(
    ({ list, shown, of }) => html`<p class="hint">Shown: ${shown} of ${of} (${list}).</p>`,
  )}`;
}
