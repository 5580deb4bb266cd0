import { html } from "hono/html";
import { type Choice, renderOptions } from "./choices.ts";

/** Something that is wrong with a form which a person sent. */
export interface FormMistake {
  /** The id of the input. Absent for the form as a whole. */
  readonly input?: string | undefined;
  readonly message: string;
}

export type FormMistakes = readonly FormMistake[];

interface FieldBase {
  readonly name: string;
  /** Default: the name. */
  readonly id?: string;
  readonly label: string;
  readonly hint?: string | undefined;
}

interface TextField extends FieldBase {
  /** Default: `text`. */
  readonly type?:
    | "text"
    | "email"
    | "url"
    | "password"
    | "number"
    | "date"
    | "datetime-local"
    | "search"
    | "file"
    | "textarea";
  readonly value?: string;
  /** Further attributes; `true` for one without a value. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
}

interface SelectField extends FieldBase {
  readonly type: "select";
  readonly choices: readonly Choice[];
  readonly value?: string;
}

interface CheckboxField extends FieldBase {
  readonly type: "checkbox";
  /** Sent if the box is checked. Default: `yes`. */
  readonly value?: string;
  readonly isChecked: boolean;
}

export type FormField = TextField | SelectField | CheckboxField;

/** Renders a labelled input, with its hint and what is wrong with its value. */
export function renderField(field: FormField, mistakes: FormMistakes = []) {
  const { id = field.name, name, label } = field;
  const { state, mistake, hint } = describeInput(id, field.hint, mistakes);
  if (field.type === "checkbox") {
    return html`<label class="choice">
        <input type="checkbox" name="${name}" value="${field.value ?? "yes"}" ${field.isChecked ? "checked" : ""} id="${id}" ${state} />
        ${label}
      </label>
      ${mistake}${hint}`;
  }
  return html`<label for="${id}">${label}</label>
    ${mistake}${renderInput(field, html`id="${id}" name="${name}" ${state}`)}${hint}`;
}

function renderInput(field: TextField | SelectField, identity: unknown) {
  const { value = "" } = field;
  if (field.type === "select") {
    return html`<select ${identity}>
      ${renderOptions(field.choices, value)}
    </select>`;
  }
  const { type = "text", attributes = {} } = field;
  const further = Object.entries(attributes).map(([name, given]) => renderAttribute(name, given));
  if (type === "textarea") {
    // Browsers leave out the first line break of the text.
    return html`<textarea ${identity} ${further}>${`\n${value}`}</textarea>`;
  }
  return html`<input ${identity} type="${type}" ${value === "" ? "" : html`value="${value}"`} ${further} />`;
}

function renderAttribute(name: string, value: string | number | boolean) {
  if (value === false) return "";
  return value === true ? html` ${name}` : html` ${name}="${value}"`;
}

/** Renders what belongs to an input: the attributes that name its texts, and the texts. */
export function describeInput(id: string, hintText: string | undefined, mistakes: FormMistakes = []) {
  const wrong = mistakes.filter(({ input }) => input === id);
  const ids = [...(wrong.length > 0 ? [`${id}-mistake`] : []), ...(hintText === undefined ? [] : [`${id}-hint`])];
  return {
    state: html`${ids.length > 0 ? html`aria-describedby="${ids.join(" ")}"` : ""} ${wrong.length > 0 ? html`aria-invalid="true"` : ""}`,
    mistake:
      wrong.length > 0
        ? html`<p class="mistake" id="${id}-mistake">${wrong.map(({ message }) => message).join(" ")}</p>`
        : "",
    hint: hintText === undefined ? "" : html`<p class="hint" id="${id}-hint">${hintText}</p>`,
  };
}

export interface ChoiceGroup {
  readonly name: string;
  /** The id of the first choice. Default: the name. */
  readonly id?: string;
  readonly type: "checkbox" | "radio";
  readonly legend: string;
  readonly choices: readonly (Choice & { readonly isChecked: boolean })[];
  readonly hint?: string;
  /** Many short choices, in columns. */
  readonly hasColumns?: boolean;
}

/** Renders choices with a common name. Mistakes lead to the first one. */
export function renderChoiceGroup(group: ChoiceGroup, mistakes: FormMistakes = []) {
  const { name, id = name, type, legend, choices } = group;
  const { state, mistake, hint } = describeInput(id, group.hint, mistakes);
  return html`<fieldset ${group.hasColumns ? html`class="columns"` : ""}>
      <legend>${legend}</legend>
      ${mistake}
      ${choices.map(
        ({ value, label, isChecked }, index) =>
          html`<label class="choice">
            <input
              type="${type}"
              name="${name}"
              value="${value}"
              ${isChecked ? "checked" : ""}
              ${index === 0 ? html`id="${id}" ${state}` : ""}
            />
            ${label}
          </label>`,
      )}
    </fieldset>
    ${hint}`;
}

/**
 * Renders what is wrong with a form, above it, with links to the inputs. The keyboard's focus is there when the page
 * opens, so that screen readers read it first.
 */
export function renderMistakes(mistakes: FormMistakes) {
  if (mistakes.length === 0) return "";
  return html`<div class="notice error" role="alert" tabindex="-1" autofocus aria-labelledby="mistakes">
    <h2 id="mistakes">${mistakes.length === 1 ? "There is a mistake" : `There are ${mistakes.length} mistakes`}</h2>
    <ul>
      ${mistakes.map(
        ({ input, message }) =>
          html`<li>${input === undefined ? message : html`<a href="#${input}">${message}</a>`}</li>`,
      )}
    </ul>
  </div>`;
}
