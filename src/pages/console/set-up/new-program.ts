import { html } from "hono/html";
import type { User } from "../../../contract/access/roles.ts";
import type { Program } from "../../../contract/programs.ts";
import { renderSelect } from "../../components/choices.ts";
import { renderNotice } from "../../components/notice.ts";
import { renderPage } from "../../layout.ts";
import { programsPath } from "../programs.ts";

export const newProgramPath = `${programsPath}/new`;

/** What a person gave for a new programme, which the page shows again if something is wrong with it. */
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
  readonly error?: string | undefined;
}

/** Renders the choice of what a new programme is made from. */
export function renderNewProgramPage({ user, programs, form, error }: NewProgramPage) {
  const sources = [
    { value: "", label: "The template: one track, two rounds, a form and a rubric" },
    ...programs.map(({ programId, name, year }) => ({ value: programId, label: `${name} ${year}` })),
  ];
  return renderPage(
    "New programme",
    html`${error ? renderNotice(error, "error") : ""}
      <p>The next page shows what would be created. Nothing is written before you agree there.</p>
      <h2>From the template, or like an earlier programme</h2>
      <p>
        The new programme gets the tracks, rounds, forms and rubrics, but no submissions, applicants or reviewers. It is
        a draft, and its intake is closed until you open it.
      </p>
      <form class="sheet" method="post" action="${newProgramPath}/like">
        ${renderSelect("like", "Make it like", sources, form.like)}
        <label for="name">Name</label>
        <input id="name" name="name" required maxlength="200" value="${form.name}" />
        <label for="year">Year</label>
        <input id="year" name="year" type="number" required min="1900" max="3000" value="${form.year}" />
        <label for="opensOn">Opening date</label>
        <input
          id="opensOn"
          name="opensOn"
          type="date"
          required
          value="${form.opensOn}"
          aria-describedby="opensOn-hint"
        />
        <p class="hint" id="opensOn-hint">The day on which applications open. All other dates move by as many days.</p>
        <button>Preview</button>
      </form>
      <h2>From a file</h2>
      <p>A file in YAML, as <code>programme-mcp export-config</code> and the set-up of a programme write it.</p>
      <form method="post" action="${newProgramPath}/file" enctype="multipart/form-data">
        ${renderFileInput()}
        <button>Preview the file</button>
      </form>`,
    { user, section: programsPath },
  );
}

export function renderFileInput() {
  return html`<label for="file">File</label>
    <input id="file" name="file" type="file" required accept=".yaml,.yml,.json" />`;
}
