import { html } from "hono/html";

export interface DataTable {
  /** Names the table for screen readers. */
  readonly caption: string;
  readonly headings: readonly string[];
  /** The first cell of a row names it. */
  readonly rows: readonly (readonly unknown[])[];
  /** What is said in place of a table without rows. */
  readonly empty: string;
}

/** Renders records as a table. Narrow screens scroll it, by keyboard too. */
export function renderTable({ caption, headings, rows, empty }: DataTable) {
  if (rows.length === 0) return html`<p>${empty}</p>`;
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${headings.map((heading) => html`<th scope="col">${heading}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([first, ...cells]) =>
            html`<tr>
              <th scope="row">${first}</th>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
