import { html } from "hono/html";
import type { Choice } from "../../components/choices.ts";
import { type FormField, type FormMistakes, renderField } from "../../components/form-fields.ts";

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
export function renderInputs(
  inputs: readonly SetUpInput[],
  values: SetUpValues,
  { prefix = "", mistakes = [] }: { readonly prefix?: string; readonly mistakes?: FormMistakes | undefined } = {},
) {
  return html`${inputs.map((input) => {
    const name = `${prefix}${input.path}`;
    return html`<div>${renderField(toField(input, name, getValue(values, input.path)), mistakes)}</div>`;
  })}`;
}

function toField(input: SetUpInput, name: string, value: unknown): FormField {
  const { kind, label, hint } = input;
  const base = { name, label, hint, value: formatInput(value) };
  if (kind === "choice") return { ...base, type: "select", choices: input.choices };
  if (kind === "flag") return { name, label, hint, type: "checkbox", isChecked: value === true };
  const required = input.required ?? false;
  switch (kind) {
    case "text":
      return { ...base, attributes: { required } };
    case "number":
      return { ...base, type: "number", attributes: { required, step: "any" } };
    case "time":
      return {
        ...{ ...base, label: `${label} (UTC)`, type: "datetime-local", value: base.value.slice(0, 16) },
        attributes: { required },
      };
    default:
      return { ...base, type: "textarea", attributes: { required, rows: 4 } };
  }
}

function formatInput(value: unknown): string {
  if (Array.isArray(value)) return value.join("\n");
  return value === undefined || value === null ? "" : String(value);
}

/** Returns the value at names joined by dots. */
export function getValue(values: SetUpValues, path: string): unknown {
  return path.split(".").reduce<unknown>((inner, name) => (inner as SetUpValues | undefined)?.[name], values);
}
