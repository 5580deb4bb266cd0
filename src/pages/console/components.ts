import { html } from "hono/html";

/** Renders a form of one button, which names what it acts on for screen readers. */
export function renderAction(path: string, label: string, subject: string) {
  return html`<form method="post" action="${path}">
    <button class="quiet" aria-label="${label}: ${subject}">${label}</button>
  </form>`;
}

/** Renders an action that cannot be undone, behind a step that shows what it does. */
export function renderCarefulAction(path: string, label: string, consequence: string) {
  return html`<details>
    <summary>${label}</summary>
    <p>${consequence}</p>
    <form method="post" action="${path}"><button>${label}</button></form>
  </details>`;
}

/** Renders a secret that is shown once. */
export function renderSecret(label: string, secret: string) {
  return html`<div class="notice" role="status">
    <p>${label} It is shown only now: copy it before you leave this page.</p>
    <pre tabindex="0"><code>${secret}</code></pre>
  </div>`;
}

/** Renders the way to the next page of a list. */
export function renderNextPage(path: string, query: Readonly<Record<string, string>>, cursor: string | undefined) {
  if (cursor === undefined) return "";
  return html`<p><a class="button quiet" href="${path}?${new URLSearchParams({ ...query, cursor })}">Older entries</a></p>`;
}
