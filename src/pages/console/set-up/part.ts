import { html } from "hono/html";
import type { User } from "../../../contract/access/roles.ts";
import type { FormUse } from "../../../contract/set-up/set-up-plan.ts";
import { type ChoiceGroup, type FormMistakes, renderChoiceGroup } from "../../components/form-fields.ts";
import { renderNotice } from "../../components/notice.ts";
import { renderPage } from "../../layout.ts";
import { programsPath } from "../programs.ts";
import { renderFormUses } from "./config.ts";
import { renderInputs, type SetUpInput, type SetUpValues } from "./inputs.ts";

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
  /** Mistakes in the values that were sent. */
  readonly mistakes: FormMistakes;
}

/** Renders the form with which a part of a set-up is edited. Its answer is a preview. */
export function renderPartPage({ user, title, setUpPath, path, revision, content, mistakes }: PartPage) {
  return renderPage(
    title,
    html`<form class="sheet" method="post" action="${path}" enctype="multipart/form-data">
        ${content}
        <input type="hidden" name="revision" value="${revision}" />
        <button>Preview the changes</button>
      </form>
      <p><a href="${setUpPath}">Back to the set-up</a></p>`,
    { user, section: programsPath, mistakes },
  );
}

export interface SimplePart {
  readonly inputs: readonly SetUpInput[];
  readonly values: SetUpValues;
  readonly mistakes: FormMistakes | undefined;
}

/** Renders the inputs of a programme, a track or a round. */
export function renderSimplePart({ inputs, values, mistakes }: SimplePart) {
  return renderInputs(inputs, values, { mistakes });
}

interface ItemInputs {
  readonly items: {
    readonly noun: "field" | "criterion";
    readonly inputs: readonly SetUpInput[];
    /** The inputs of an item that is not stored yet. */
    readonly newInputs: readonly SetUpInput[];
    readonly stored: readonly SetUpValues[];
  };
  /** The stored items first. Those that are new have no label yet. */
  readonly shownItems: readonly SetUpValues[];
  readonly mistakes: FormMistakes | undefined;
}

export interface VersionPart extends ItemInputs {
  readonly noun: "form" | "rubric";
  readonly isNew: boolean;
  readonly values: SetUpValues;
  /** The inputs of the whole. */
  readonly inputs: readonly SetUpInput[];
  /** The tracks or rounds that can use the new version. */
  readonly users: ChoiceGroup["choices"];
  readonly formUses: readonly FormUse[];
}

/** Renders the inputs of a form or a rubric, of which each change makes a new version. */
export function renderVersionPart(part: VersionPart) {
  const { noun, isNew, values, inputs, items, users, formUses, mistakes } = part;
  return html`${
    isNew
      ? ""
      : html`<p>
            A change makes the next version. What was begun with an earlier version keeps it, and so does every track or
            round that is not chosen below.
          </p>
          ${renderFormUses(formUses)}`
  }
  ${renderInputs(inputs, values, { mistakes })}
  <h2>${items.noun === "field" ? "Fields" : "Criteria"}</h2>
  ${renderItems(part, true)}
  ${
    users.length > 0
      ? renderChoiceGroup({
          ...{ name: "user", type: "checkbox", choices: users },
          legend: `${noun === "form" ? "Tracks" : "Rounds"} that use the new version`,
        })
      : ""
  }`;
}

/** Renders the inputs of the fields of persons, of which each change makes a new version. */
export function renderPersonFieldsPart(part: ItemInputs & { readonly version: number | undefined }) {
  const { version } = part;
  return html`<p>
      All programmes of the organisation share these fields. ${version === undefined ? "" : `This is version ${version}.`}
      A change makes the next version, which holds for all persons. A field that is no longer needed is archived: its
      values stay.
    </p>
    ${renderItems(part, false)}`;
}

function renderItems(part: ItemInputs, canRemove: boolean) {
  return part.shownItems.map((item, index) => renderItem(part, item, index, canRemove));
}

function renderItem({ items, mistakes = [] }: ItemInputs, item: SetUpValues, index: number, canRemove: boolean) {
  const prefix = `item.${index}.`;
  const label = String(item["label"] ?? "");
  const isStored = index < items.stored.length;
  const placing: SetUpInput[] = [{ path: "position", label: "Position", kind: "number" }];
  if (isStored && canRemove) placing.push({ path: "removed", label: `Remove this ${items.noun}`, kind: "flag" });
  const isWrong = mistakes.some(({ input }) => input?.startsWith(prefix));
  const inputs = [...(isStored ? items.inputs : items.newInputs), ...placing];
  return html`<details ${isWrong ? "open" : ""}>
    <summary>${label ? `${index + 1}. ${label}` : `Another ${items.noun}`}</summary>
    <div class="inputs">${renderInputs(inputs, { position: index + 1, ...item }, { prefix, mistakes })}</div>
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
