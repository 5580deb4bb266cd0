import { html } from "hono/html";
import { formatCode, formatMinute } from "./format.ts";
import { renderRecords } from "./table.ts";

/** The outcome of a call of a batch. */
export interface OutcomeRow {
  readonly call: number;
  readonly tool: string;
  readonly status: "done" | "failed" | "left_out" | "not_run";
  readonly error?: { readonly message: string };
}

/** Renders what became of the calls of a batch. */
export function renderBatchOutcome(rows: readonly OutcomeRow[]) {
  return renderRecords({
    caption: "The calls of the batch",
    rows,
    empty: "No call was made.",
    columns: [
      { header: "Call", value: ({ call, tool }) => `${call}. ${tool}` },
      { header: "Outcome", value: ({ status }) => formatCode(status) },
      { header: "Why", value: ({ error }) => error?.message ?? null },
    ],
  });
}

/** Renders the fields that a call has changed. Lists are counted. */
export function renderRecordOutcome(record: Readonly<Record<string, unknown>>) {
  const fields = Object.entries(record).filter(([, value]) => value !== null && value !== undefined);
  return html`<dl class="facts">
    ${fields.map(
      ([name, value]) =>
        html`<dt>${nameField(name)}</dt>
          <dd>${formatValue(name, value)}</dd>`,
    )}
  </dl>`;
}

/** Turns a field's name into words: `currentRoundId` into `Current round id`. */
function nameField(name: string): string {
  return formatCode(name.replaceAll(/(?=[A-Z])/g, " "));
}

function formatValue(name: string, value: unknown): string {
  if (Array.isArray(value)) return String(value.length);
  if (typeof value === "string" && name.endsWith("At")) return formatMinute(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
