import { html } from "hono/html";

export interface DataTable {
  /** Names the table for screen readers. */
  readonly caption: string;
  readonly headings: readonly string[];
  /** The first cell of a row names it. */
  readonly rows: readonly (readonly unknown[])[];
  /** The sentence in place of a table without rows. */
  readonly empty: string;
  /** The order of the rows, if a reader can choose it. Each heading is then a button with the action `sort`. */
  readonly sort?: SortOrder | undefined;
}

export interface SortOrder {
  /** The number of the column, from 0. */
  readonly column: number;
  readonly descending: boolean;
}

/**
 * Renders records as a table, which scrolls if it is too wide, by keyboard too. The roles keep what it is when a style
 * shows rows as blocks, and the labels name the columns there.
 */
export function renderTable({ caption, headings, rows, empty, sort }: DataTable) {
  if (rows.length === 0) return html`<p>${empty}</p>`;
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table role="table">
      <caption>
        ${caption}
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          ${headings.map((heading, column) =>
            sort ? renderSortHeading(heading, column, sort) : html`<th role="columnheader" scope="col">${heading}</th>`,
          )}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map(
          ([first, ...cells]) =>
            html`<tr role="row">
              <th role="rowheader" scope="row">${first}</th>
              ${cells.map((cell, index) => html`<td role="cell" data-label="${headings[index + 1]}">${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function renderSortHeading(heading: string, column: number, sort: SortOrder) {
  const direction = sort.descending ? "descending" : "ascending";
  return html`<th role="columnheader" scope="col" aria-sort="${sort.column === column ? direction : "none"}">
    <button id="sort-${column}" class="sort" data-action="sort" value="${column}">${heading}</button>
  </th>`;
}
