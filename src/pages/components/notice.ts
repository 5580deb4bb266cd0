import { html } from "hono/html";

/** Renders a message about what was done, or what went wrong, which screen readers read first. */
export function renderNotice(text: string, kind: "done" | "error") {
  return kind === "error"
    ? html`<p class="notice error" role="alert">${text}</p>`
    : html`<p class="notice" role="status">${text}</p>`;
}
