import { html } from "hono/html";
import { type Role, roles, type User } from "../../contract/access/roles.ts";
import type { Problem } from "../../contract/errors.ts";
import type { Program } from "../../contract/programs.ts";
import type { OpenWork } from "../../contract/workflows/open-work.ts";
import type { ReviewProgress } from "../../contract/workflows/review-progress.ts";
import type { FormMistakes } from "../components/form-fields.ts";
import { formatCode, formatMinute } from "../components/format.ts";
import { renderGaps } from "../components/gaps.ts";
import { createReviewerTable, createRoundTable } from "../components/progress.ts";
import { createTimeColumn, type RecordTable, renderDownloads, renderRecords } from "../components/table.ts";
import { renderPage } from "../layout.ts";
import { renderNextPage } from "./components.ts";
import { renderOpenWork } from "./open-work.ts";
import { renderRefusal } from "./refusal.ts";

export const programsPath = "/programmes";

/** The pages of a programme, with the roles that may open them if not every role may. */
const programPages = [
  { name: "", label: "Overview", roles },
  { name: "/submissions", label: "Submissions", roles },
  { name: "/reviewers", label: "Reviewers", roles },
  { name: "/scores", label: "Scores", roles },
  { name: "/set-up", label: "Set-up", roles: ["owner"] },
] as const satisfies readonly { readonly name: string; readonly label: string; readonly roles: readonly Role[] }[];
type ProgramPageName = (typeof programPages)[number]["name"];

/** A page of a list. */
export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** The cursor of the next page. */
  readonly next: string | undefined;
}

/** Renders the programmes of an organisation. */
export function renderProgramsPage(user: User, { rows, next }: ListPage<Program>) {
  return renderPage(
    "Programmes",
    html`${user.role === "owner" ? html`<p><a class="button" href="${programsPath}/new">New programme</a></p>` : ""}
    ${renderRecords(createProgramTable(rows))}${renderNextPage(programsPath, {}, next)}`,
    { user, section: programsPath },
  );
}

function createProgramTable(rows: readonly Program[]): RecordTable<Program> {
  return {
    caption: "Programmes",
    rows,
    empty: "There are no programmes yet.",
    columns: [
      {
        header: "Programme",
        value: ({ name }) => name,
        render: ({ programId, name }) => html`<a href="${programsPath}/${programId}">${name}</a>`,
      },
      { header: "Year", value: ({ year }) => String(year) },
      { header: "State", value: ({ lifecycleStatus }) => formatCode(lifecycleStatus) },
      createTimeColumn("Start", ({ startDate }) => startDate),
      createTimeColumn("End", ({ endDate }) => endDate),
    ],
  };
}

/** Renders a page of a programme, with the way to its other pages. */
export function renderProgramPage(
  user: User,
  program: Pick<Program, "programId" | "name">,
  name: ProgramPageName,
  content: unknown,
  mistakes: FormMistakes = [],
) {
  const base = `${programsPath}/${program.programId}`;
  const current = programPages.find((page) => page.name === name);
  const title = name === "" ? program.name : `${program.name}: ${current?.label.toLowerCase()}`;
  return renderPage(
    title,
    html`<nav class="tabs" aria-label="Programme">
        <ul>
          ${listPages(user).map(
            (page) =>
              html`<li>
                <a href="${base}${page.name}" ${page === current ? html`aria-current="page"` : ""}>${page.label}</a>
              </li>`,
          )}
        </ul>
      </nav>
      ${content}`,
    { user, section: programsPath, mistakes },
  );
}

function listPages({ role }: User) {
  return programPages.filter((page) => page.roles.some((each) => each === role));
}

export type ReadResult<Data> =
  | { readonly ok: true; readonly data: Data }
  | { readonly ok: false; readonly problem: Problem };

export interface ProgramOverview {
  readonly user: User;
  readonly program: Program;
  readonly progress: ReadResult<ReviewProgress>;
  readonly openWork: ReadResult<OpenWork>;
}

/** Renders how far a programme is: its rounds, and what needs doing. */
export function renderProgramOverview({ user, program, progress, openWork }: ProgramOverview) {
  const { programId, lifecycleStatus, year, startDate, endDate, description } = program;
  return renderProgramPage(
    user,
    program,
    "",
    html`${description ? html`<p>${description}</p>` : ""}
      <dl class="facts">
        <dt>State</dt>
        <dd>${formatCode(lifecycleStatus)}</dd>
        <dt>Year</dt>
        <dd>${year}</dd>
        <dt>Dates</dt>
        <dd>${formatMinute(startDate) || "–"} to ${formatMinute(endDate) || "–"}</dd>
      </dl>
      <h2>Rounds</h2>
      ${
        progress.ok
          ? html`${renderRecords(createRoundTable(progress.data.rounds))}
            ${renderDownloads(`${programsPath}/${programId}`)}${renderGaps(progress.data)}`
          : renderRefusal(progress.problem)
      }
      <h2 id="work">What needs doing</h2>
      ${openWork.ok ? renderOpenWork(openWork.data) : renderRefusal(openWork.problem)}`,
  );
}

/** Renders the load of a programme's reviewers. */
export function renderReviewersPage(user: User, program: Program, progress: ReviewProgress) {
  return renderProgramPage(
    user,
    program,
    "/reviewers",
    html`${renderRecords(createReviewerTable(progress.reviewers))}
    ${renderDownloads(`${programsPath}/${program.programId}/reviewers`)}${renderGaps(progress)}`,
  );
}
