import { html } from "hono/html";
import type { User } from "../../../contract/access/roles.ts";
import type { Program } from "../../../contract/programs.ts";
import { type FormMistakes, renderField } from "../../components/form-fields.ts";
import { renderPage } from "../../layout.ts";
import { programsPath } from "../programs.ts";

export const newProgramPath = `${programsPath}/new`;

/** Values that a person gave for a new programme. The page shows them again if something is wrong with them. */
export interface NewProgramForm {
  /** The id of the programme that the new one is like; empty for the template. */
  readonly like: string;
  readonly name: string;
  readonly year: string;
  readonly opensOn: string;
}

export interface NewProgramPage {
  readonly user: User;
  readonly programs: readonly Program[];
  readonly form: NewProgramForm;
  readonly mistakes?: FormMistakes;
}

/** Renders the choice of what a new programme is made from. */
export function renderNewProgramPage({ user, programs, form, mistakes }: NewProgramPage) {
  const sources = [
    { value: "", label: "The template: one track, two rounds, a form and a rubric" },
    ...programs.map(({ programId, name, year }) => ({
      value: programId,
      label: name.includes(String(year)) ? name : `${name} ${year}`,
    })),
  ];
  return renderPage(
    "New programme",
    html`<p>The next page shows what would be created. Nothing is written before you agree there.</p>
      <h2>From the template, or like an earlier programme</h2>
      <p>
        The new programme gets the tracks, rounds, forms and rubrics, but no submissions, applicants or reviewers. It is
        a draft, and its intake is closed until you open it.
      </p>
      <form class="sheet" method="post" action="${newProgramPath}/like">
        ${renderField({ name: "like", label: "Make it like", type: "select", choices: sources, value: form.like }, mistakes)}
        ${settingFields.map((field) => renderField({ ...field, value: form[field.name] }, mistakes))}
        <button>Preview</button>
      </form>
      <h2>From a file</h2>
      <p>A file in YAML, as <code>programme-mcp export-config</code> and the set-up of a programme write it.</p>
      <form method="post" action="${newProgramPath}/file" enctype="multipart/form-data">
        ${renderFileInput(mistakes)}
        <button>Preview the file</button>
      </form>`,
    { user, section: programsPath, mistakes },
  );
}

const settingFields = [
  { name: "name", label: "Name", attributes: { required: true, maxlength: 200 } },
  { name: "year", label: "Year", type: "number", attributes: { required: true, min: 1900, max: 3000 } },
  {
    name: "opensOn",
    label: "Opening date",
    type: "date",
    attributes: { required: true },
    hint: "The day on which applications open. All other dates move by as many days.",
  },
] as const;

export function renderFileInput(mistakes?: FormMistakes) {
  const attributes = { required: true, accept: ".yaml,.yml,.json" };
  return renderField({ name: "file", label: "File", type: "file", attributes }, mistakes);
}
