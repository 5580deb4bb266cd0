import { html } from "hono/html";
import type { User } from "../../../contract/access/roles.ts";
import type { Difference, FormUse, SetUpOutcome, SetUpPlan } from "../../../contract/set-up/set-up-plan.ts";
import { renderTable } from "../../components/data-table.ts";
import { type FormMistakes, renderField } from "../../components/form-fields.ts";
import { formatCode, formatMinute } from "../../components/format.ts";
import { renderNotice } from "../../components/notice.ts";
import { renderPage } from "../../layout.ts";
import { programsPath } from "../programs.ts";
import { renderConfig, renderFormUses, renderSettings } from "./config.ts";

export interface PreviewPage {
  readonly user: User;
  readonly plan: SetUpPlan;
  /** The path to which the page's forms are sent. */
  readonly path: string;
  /** The name of the existing programme. Absent for a new one. */
  readonly program?: string;
  /** The revision that the text was written for. */
  readonly revision?: string;
}

const maxListedMistakes = 100;
const maxListedDifferences = 300;

/** Renders what a text would do to a programme, or what is wrong with it, and the way to do it. */
export function renderPreviewPage({ user, plan, path, program, revision }: PreviewPage) {
  const { outcome, text } = plan;
  const name = outcome ? `: ${outcome.config.program.name} ${outcome.config.program.year}` : "";
  const carried = plan.revision ?? revision;
  const mistakes = describeRefusal(plan);
  return renderPage(
    program === undefined ? `New programme${name}` : `${program}: preview of the changes`,
    html`${renderProblems(plan)}
      ${
        outcome &&
        (program === undefined ? renderNew(outcome, path, text) : renderChanges(outcome, path, text, carried))
      }
      ${renderText(path, text, carried, { isOpen: !outcome, mistakes })}
      <p><a href="${path}">${program === undefined ? "Begin again" : "Back to the set-up"}</a></p>`,
    { user, section: programsPath, mistakes },
  );
}

/** Returns why a text is refused as a mistake of its input. */
function describeRefusal({ mistakes: { length }, refusal }: SetUpPlan): FormMistakes {
  const count = length === 1 ? "1 mistake" : `${length} mistakes`;
  const message = length > 0 ? `The text has ${count}. Nothing was written.` : refusal;
  return message === undefined ? [] : [{ input: "text", message }];
}

function renderProblems({ mistakes, isStale, text }: SetUpPlan) {
  const stale =
    "Somebody else changed the set-up in the meantime. The table shows what your text would change now, their changes included.";
  if (mistakes.length === 0) return isStale ? renderNotice(stale, "error") : "";
  const lines = text.split("\n");
  const listed = mistakes.toSorted((one, other) => one.line - other.line || one.column - other.column);
  return renderTable({
    caption: "Mistakes",
    headings: ["Line", "Text", "What", "Mistake"],
    rows: listed
      .slice(0, maxListedMistakes)
      .map(({ line, path, message }) => [
        line,
        html`<code>${(lines[line - 1] ?? "").trim().slice(0, 120)}</code>`,
        path || "–",
        message,
      ]),
    empty: "",
  });
}

function renderNew({ config, items }: SetUpOutcome, path: string, text: string) {
  return html`<p>Nothing is written yet. This is what will be created.</p>
    ${renderSettings(config.program)}
    ${renderConfig({ config, items })}
    <form method="post" action="${path}/apply" enctype="multipart/form-data">
      <input type="hidden" name="text" value="${text}" />
      <button>Create the programme</button>
    </form>`;
}

function renderChanges(outcome: SetUpOutcome, path: string, text: string, revision: string | undefined) {
  const { differences, items, formUses } = outcome;
  const people = items.filter(({ kind, outcome: state }) => kind === "reviewer" && state !== "unchanged");
  const left = items.filter((item) => item.outcome === "left");
  const changes = items.some((item) => item.outcome === "created" || item.outcome === "changed");
  return html`${
    changes ? html`<p>Nothing is written yet. This is what will change.</p>` : html`<p>The text changes nothing.</p>`
  }
  ${differences.length > 0 ? renderDifferences(differences) : ""}
  ${people.map(({ name, outcome: state }) => html`<p>Reviewer ${name}: ${state === "created" ? "added" : "changed"}</p>`)}
  ${left.length > 0 ? html`<p class="hint">Not in the text, and kept: ${left.map(({ name }) => name).join("; ")}.</p>` : ""}
  ${items
    .filter(({ outcome: state }) => state === "changed")
    .map(({ kind, name, version }) => {
      if (version === undefined || kind === "rubric") return "";
      if (kind === "form") return renderNewVersion(name, version, formUses);
      return html`<p>The fields of persons get version ${version}.</p>`;
    })}
  ${
    changes
      ? html`<form method="post" action="${path}/apply" enctype="multipart/form-data">
          <input type="hidden" name="text" value="${text}" />
          <input type="hidden" name="revision" value="${revision ?? ""}" />
          <button>Apply the changes</button>
        </form>`
      : ""
  }`;
}

function renderNewVersion(form: string, version: number, formUses: readonly FormUse[]) {
  return html`<p>The form ${form} gets version ${version}.</p>
    ${renderFormUses(formUses.filter((use) => use.form === form))}`;
}

function renderDifferences(differences: readonly Difference[]) {
  return html`${renderTable({
    caption: "What changes",
    headings: ["Part", "Value", "Before", "After"],
    rows: differences
      .slice(0, maxListedDifferences)
      .map(({ part, field, before, after }) => [part, formatFieldName(field), formatValue(before), formatValue(after)]),
    empty: "",
  })}${
    differences.length > maxListedDifferences
      ? html`<p class="hint">Shown: ${maxListedDifferences} of ${differences.length} changes.</p>`
      : ""
  }`;
}

/** Formats a name of the text for people: `intakeOpenDate` as `Intake open date`. */
function formatFieldName(name: string): string {
  return formatCode(name.replaceAll(/([a-z])([A-Z])/g, "$1 $2")) || "–";
}

function formatValue(value: unknown): string {
  if (value === undefined || value === null || value === "") return "–";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (Array.isArray(value)) return value.map((item) => formatValue(item)).join(", ");
  if (typeof value === "object") {
    const values = Object.entries(value).map(([name, inner]) => `${formatFieldName(name)}: ${formatValue(inner)}`);
    return values.join("; ");
  }
  const text = String(value);
  return /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) ? formatMinute(text) : text;
}

/** Renders the text of a set-up, to be changed by those who want it. */
export function renderText(
  path: string,
  text: string,
  revision: string | undefined,
  { isOpen, mistakes }: { readonly isOpen: boolean; readonly mistakes?: FormMistakes },
) {
  return html`<details ${isOpen ? "open" : ""}>
    <summary>The whole set-up as text (YAML)</summary>
    <form method="post" action="${path}/preview" enctype="multipart/form-data">
      ${renderField(
        {
          ...{ name: "text", label: "Text", type: "textarea", value: text },
          attributes: { rows: 24, spellcheck: "false", class: "code" },
        },
        mistakes,
      )}
      ${revision === undefined ? "" : html`<input type="hidden" name="revision" value="${revision}" />`}
      <button class="quiet">Preview this text</button>
    </form>
  </details>`;
}
