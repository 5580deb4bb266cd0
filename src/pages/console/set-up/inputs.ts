import { html } from "hono/html";
import { type Choice, renderSelect } from "../../components/choices.ts";

/** SetUpValues as a form shows them: those of a set-up, or what a person gave. */
export type SetUpValues = Readonly<Record<string, unknown>>;

interface InputBase {
  /** The names that lead to the value, joined by dots. */
  readonly path: string;
  readonly label: string;
  readonly hint?: string;
  /** The meaning of an empty input: `null` removes a stored value, `absent` is for parts of a new version. */
  readonly empty?: "null" | "absent";
}

/** An input of a form for a value of the set-up. Times are in UTC, and `lines` is a list of texts. */
export type SetUpInput =
  | (InputBase & {
      readonly kind: "text" | "longText" | "number" | "time" | "flag" | "lines";
      readonly required?: boolean;
    })
  | (InputBase & { readonly kind: "choice"; readonly choices: readonly Choice[] });

/** Renders inputs with their values. Their names begin with the prefix. */
export function renderInputs(inputs: readonly SetUpInput[], values: SetUpValues, prefix = "") {
  return html`${inputs.map(
    (input) => html`<div>${renderInput(input, getValue(values, input.path), `${prefix}${input.path}`)}</div>`,
  )}`;
}

function renderInput(input: SetUpInput, value: unknown, name: string) {
  const { label, hint } = input;
  const described = hint ? html`aria-describedby="${name}-hint"` : "";
  const explained = hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : "";
  if (input.kind === "choice") {
    return html`${renderSelect(name, label, input.choices, formatInput(value))}${explained}`;
  }
  if (input.kind === "flag") {
    return html`<label class="choice">
        <input type="checkbox" name="${name}" value="yes" ${value === true ? "checked" : ""} ${described} /> ${label}
      </label>
      ${explained}`;
  }
  const required = input.required ? "required" : "";
  if (input.kind === "longText" || input.kind === "lines") {
    const content = `\n${Array.isArray(value) ? value.join("\n") : formatInput(value)}`;
    return html`<label for="${name}">${label}</label>
      <textarea id="${name}" name="${name}" rows="4" ${required} ${described}>${content}</textarea>
      ${explained}`;
  }
  const type = { text: html`type="text"`, number: html`type="number" step="any"`, time: html`type="datetime-local"` };
  const shown = input.kind === "time" ? formatInput(value).slice(0, 16) : formatInput(value);
  return html`<label for="${name}">${label}${input.kind === "time" ? " (UTC)" : ""}</label>
    <input id="${name}" name="${name}" ${type[input.kind]} value="${shown}" ${required} ${described} />
    ${explained}`;
}

function formatInput(value: unknown): string {
  return value === undefined || value === null ? "" : String(value);
}

/** Returns the value at names joined by dots. */
export function getValue(values: SetUpValues, path: string): unknown {
  return path.split(".").reduce<unknown>((inner, name) => (inner as SetUpValues | undefined)?.[name], values);
}
