import { html } from "hono/html";

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/**
 * Renders a labelled list of choices.
 * @param action - what a view does when another one is chosen
 */
export function renderSelect(name: string, label: string, choices: readonly Choice[], chosen = "", action?: string) {
  return html`<label for="${name}">${label}</label>
    <select id="${name}" name="${name}" ${action ? html`data-action="${action}"` : ""}>
      ${renderOptions(choices, chosen)}
    </select>`;
}

/** Renders the choices of a list. */
export function renderOptions(choices: readonly Choice[], chosen: string) {
  return choices.map(
    ({ value, label }) => html`<option value="${value}" ${value === chosen ? "selected" : ""}>${label}</option>`,
  );
}
