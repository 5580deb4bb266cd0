import { html } from "hono/html";
import type { User } from "../../../contract/access/roles.ts";
import type { FormUse, Mistake } from "../../../contract/set-up/set-up-plan.ts";
import { type Choice, renderSelect } from "../../components/choices.ts";
import { renderNotice } from "../../components/notice.ts";
import { renderPage } from "../../layout.ts";
import { programsPath } from "../programs.ts";
import { renderInputs, type SetUpInput, type SetUpValues } from "./inputs.ts";
import { nameInput } from "./part-inputs.ts";
import { renderFormUses } from "./preview.ts";

export interface PartPage {
  readonly user: User;
  readonly title: string;
  /** The path of the set-up. */
  readonly setUpPath: string;
  /** The path to which the form is sent. */
  readonly path: string;
  readonly revision: string;
  /** The inputs of the form. */
  readonly content: unknown;
  /** What is wrong with the values that were sent. */
  readonly mistakes: readonly Mistake[];
}

/** Renders the form with which a part of a set-up is edited. Its answer is a preview. */
export function renderPartPage({ user, title, setUpPath, path, revision, content, mistakes }: PartPage) {
  return renderPage(
    title,
    html`${
      mistakes.length > 0
        ? html`<div class="notice error" role="alert">
            <p>Nothing was written. Correct this, and preview again:</p>
            <ul>
              ${mistakes.map((mistake) => html`<li>${mistake.message} (<code>${mistake.path}</code>)</li>`)}
            </ul>
          </div>`
        : ""
    }
      <form class="sheet" method="post" action="${path}" enctype="multipart/form-data">
        ${content}
        <input type="hidden" name="revision" value="${revision}" />
        <button>Preview the changes</button>
      </form>
      <p><a href="${setUpPath}">Back to the set-up</a></p>`,
    { user, section: programsPath },
  );
}

export interface SimplePart {
  readonly inputs: readonly SetUpInput[];
  readonly values: SetUpValues;
  readonly isNew: boolean;
  /** The forms or rubrics that the part can have. */
  readonly versions?: { readonly label: string; readonly choices: readonly Choice[]; readonly chosen: string };
}

/** Renders the inputs of a programme, a track or a round. */
export function renderSimplePart({ inputs, values, isNew, versions }: SimplePart) {
  return html`${isNew ? renderInputs([nameInput], values) : ""}
  ${versions ? renderSelect("version", versions.label, versions.choices, versions.chosen) : ""}
  ${renderInputs(inputs, values)}`;
}

export interface VersionPart {
  readonly noun: "form" | "rubric";
  readonly isNew: boolean;
  readonly values: SetUpValues;
  /** The inputs of the whole. */
  readonly inputs: readonly SetUpInput[];
  /** Its fields or criteria. Those that are new have no label yet. */
  readonly items: readonly SetUpValues[];
  readonly itemNoun: "field" | "criterion";
  readonly itemInputs: readonly SetUpInput[];
  /** Inputs that only a new item has. */
  readonly newItemInputs: readonly SetUpInput[];
  /** How many of the items are stored. */
  readonly storedItems: number;
  /** The tracks or rounds that can use the new version. */
  readonly users: readonly (Choice & { readonly checked: boolean })[];
  readonly formUses: readonly FormUse[];
}

/** Renders the inputs of a form or a rubric, of which each change makes a new version. */
export function renderVersionPart(part: VersionPart) {
  const { noun, isNew, values, inputs, items, users, formUses } = part;
  return html`${
    isNew
      ? renderInputs([nameInput], values)
      : html`<p>
            A change makes the next version. What was begun with an earlier version keeps it, and so does every track or
            round that is not chosen below.
          </p>
          ${renderFormUses(formUses)}`
  }
  ${renderInputs(inputs, values)}
  <h2>${part.itemNoun === "field" ? "Fields" : "Criteria"}</h2>
  ${items.map((item, index) => renderItem(part, item, index))}
  ${
    users.length > 0
      ? html`<fieldset>
          <legend>${noun === "form" ? "Tracks" : "Rounds"} that use the new version</legend>
          ${users.map(
            ({ value, label, checked }) =>
              html`<label class="choice">
                <input type="checkbox" name="user" value="${value}" ${checked ? "checked" : ""} /> ${label}
              </label>`,
          )}
        </fieldset>`
      : ""
  }`;
}

function renderItem(
  { itemNoun, itemInputs, newItemInputs, storedItems }: VersionPart,
  item: SetUpValues,
  index: number,
) {
  const prefix = `item.${index}.`;
  const label = String(item["label"] ?? "");
  const isStored = index < storedItems;
  const inputs = isStored ? itemInputs : [...itemInputs, ...newItemInputs];
  const placing: SetUpInput[] = [{ path: "position", label: "Position", kind: "number" }];
  if (isStored) placing.push({ path: "removed", label: `Remove this ${itemNoun}`, kind: "flag" });
  return html`<details>
    <summary>${label ? `${index + 1}. ${label}` : `Another ${itemNoun}`}</summary>
    <div class="inputs">${renderInputs([...inputs, ...placing], { position: index + 1, ...item }, prefix)}</div>
  </details>`;
}

/** Renders the answer to a form that was sent for a set-up which somebody else has changed. */
export function renderStalePage(user: User, setUpPath: string) {
  return renderPage(
    "The set-up was changed",
    html`${renderNotice("Somebody else changed the set-up since you opened this page. Nothing was written.", "error")}
      <p><a href="${setUpPath}">Open the set-up, and edit it again</a></p>`,
    { user, section: programsPath },
  );
}
