import { html } from "hono/html";
import type { User } from "../../../contract/access/roles.ts";
import type { ProgramSetUp } from "../../../contract/set-up/set-up-plan.ts";
import { renderNotice } from "../../components/notice.ts";
import { programsPath, renderProgramPage } from "../programs.ts";
import { renderConfig, renderSettings } from "./config.ts";
import { newProgramPath, renderFileInput } from "./new-program.ts";
import { renderText } from "./preview.ts";

export interface SetUpPage {
  readonly user: User;
  readonly setUp: ProgramSetUp;
  /** The set-up as the text of a file. */
  readonly text: string;
  readonly done?: string | undefined;
}

export function formatSetUpPath(programId: string): string {
  return `${programsPath}/${programId}/set-up`;
}

/** Renders what a programme consists of, with the ways to change it. */
export function renderSetUpPage({ user, setUp, text, done }: SetUpPage) {
  const { programId, config, revision, formUses } = setUp;
  const { name, year } = config.program;
  const path = formatSetUpPath(programId);
  return renderProgramPage(
    user,
    { programId, name },
    "/set-up",
    html`${done ? renderNotice(done, "done") : ""}
      <p>Each change is shown to you before it is made. Other people and agents see it at once.</p>
      <h2>Programme of ${year}</h2>
      ${renderSettings(config.program)}
      <p><a href="${path}/program">Edit the programme</a> · <a href="${path}/texts">Texts for applicants</a></p>
      ${renderConfig({ config, editPath: path, personFieldsVersion: setUp.personFieldsVersion, formUses })}
      <h2>As a file</h2>
      <p>
        <a href="${path}/programme.yaml" download>Download as YAML</a>,
        <a href="${newProgramPath}?like=${programId}">make a new programme like this one</a>, or upload a changed file.
      </p>
      <form method="post" action="${path}/file" enctype="multipart/form-data">
        ${renderFileInput()}
        <input type="hidden" name="revision" value="${revision}" />
        <button class="quiet">Preview the file</button>
      </form>
      ${renderText(path, text, revision, { isOpen: false })}`,
  );
}
