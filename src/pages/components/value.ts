import { html } from "hono/html";

/** Renders an answer or a changed value. */
export function renderValue(value: unknown): unknown {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (typeof value === "string" || typeof value === "number") return value;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.join(", ");
  return html`<code>${JSON.stringify(value)}</code>`;
}
