import { html } from "hono/html";
import type { User } from "../../contract/access/roles.ts";
import type { Program, Round, Track } from "../../contract/programs.ts";
import { type Submission, SubmissionState } from "../../contract/submissions.ts";
import type { SearchResults } from "../../contract/workflows/search.ts";
import type { Choice } from "../components/choices.ts";
import { type FormMistakes, renderField } from "../components/form-fields.ts";
import { formatCode } from "../components/format.ts";
import { renderGaps } from "../components/gaps.ts";
import { createTimeColumn, type RecordTable, renderDownloads, renderRecords } from "../components/table.ts";
import { renderNextPage } from "./components.ts";
import { type ListPage, programsPath, type ReadResult, renderProgramPage } from "./programs.ts";

/** The filter of a list of submissions, as the address has it. */
export interface SubmissionFilter {
  readonly state: string;
  readonly trackId: string;
  readonly roundId: string;
}

/** The tracks and rounds of a programme, as far as the person may see them. */
export interface ProgramParts {
  readonly tracks: readonly Track[];
  readonly rounds: readonly Round[];
}

export interface SubmissionsPage extends ProgramParts {
  readonly user: User;
  readonly program: Program;
  readonly filter: SubmissionFilter;
  /** The words that were searched for; empty if the list is shown. */
  readonly words: string;
  readonly list: ReadResult<ListPage<Submission>> | undefined;
  readonly found: ReadResult<SearchResults> | undefined;
  /** The mistakes in the words or the filter, or the reason why nothing is shown. */
  readonly mistakes: FormMistakes;
  readonly maxFileRows: number;
}

/** Renders a programme's submissions: those that a filter leaves, or those that have some words. */
export function renderSubmissionsPage(page: SubmissionsPage) {
  const { user, program, words, found, list, mistakes } = page;
  const attributes = { maxlength: 200, required: true };
  return renderProgramPage(
    user,
    program,
    "/submissions",
    html`<form class="filter" method="get" role="search">
        <div>
          ${renderField(
            { name: "words", label: "Words in a title or an answer", type: "search", value: words, attributes },
            mistakes,
          )}
        </div>
        <button>Search</button>
      </form>
      ${renderFilters(page)} ${found?.ok ? renderFound(found.data) : ""}${list?.ok ? renderList(page, list.data) : ""}`,
    mistakes,
  );
}

function renderFilters({ filter, tracks, rounds, mistakes }: SubmissionsPage) {
  const states = SubmissionState.options.map((state) => ({ value: state, label: formatCode(state) }));
  const trackOptions = tracks.map(({ trackId, name }) => ({ value: trackId, label: name }));
  const roundOptions = rounds.map(({ roundId, name, trackId }) => {
    const track = tracks.find((each) => each.trackId === trackId)?.name;
    return { value: roundId, label: track === undefined ? name : `${track}: ${name}` };
  });
  return html`<form class="filter" method="get">
    ${renderFilter("state", "State", states)}${renderFilter("trackId", "Track", trackOptions)}
    ${renderFilter("roundId", "Round", roundOptions)}
    <button class="quiet">Filter</button>
  </form>`;

  /** Renders a list of choices, none of which needs to be made. */
  function renderFilter(name: keyof SubmissionFilter, label: string, choices: readonly Choice[]) {
    const all = [{ value: "", label: "All" }, ...choices];
    return html`<div>
      ${renderField({ type: "select", name, label, choices: all, value: filter[name] }, mistakes)}
    </div>`;
  }
}

function renderList(page: SubmissionsPage, { rows, next }: ListPage<Submission>) {
  const path = `${programsPath}/${page.program.programId}/submissions`;
  const query = { ...page.filter };
  return html`${renderRecords(createSubmissionTable(rows, page))}${renderNextPage(path, query, next)}
    ${renderDownloads(path, query)}
    <p class="hint">A file has the filtered submissions, ${page.maxFileRows} at most. An export has all records.</p>`;
}

/** Creates the table of some submissions. Contact details are empty for people who may not see them. */
export function createSubmissionTable(
  rows: readonly Submission[],
  { tracks, rounds }: ProgramParts,
): RecordTable<Submission> {
  const trackNames = new Map(tracks.map(({ trackId, name }) => [trackId, name]));
  const roundNames = new Map(rounds.map(({ roundId, name }) => [roundId, name]));
  return {
    caption: "Submissions, the newest first",
    rows,
    empty: "There are no such submissions.",
    columns: [
      {
        header: "Title",
        value: ({ title, submissionId }) => title ?? submissionId,
        render: ({ submissionId, title }) =>
          html`<a href="/submissions/${submissionId}">${title || "Without a title"}</a>`,
      },
      { header: "Applicant", value: ({ innovatorName }) => innovatorName },
      { header: "State", value: ({ state }) => formatCode(state) },
      { header: "Track", value: ({ trackId }) => trackNames.get(trackId) ?? trackId },
      {
        header: "Round",
        value: ({ currentRoundId }) =>
          currentRoundId === null ? null : (roundNames.get(currentRoundId) ?? currentRoundId),
      },
      createTimeColumn("Submitted", ({ submittedAt }) => submittedAt),
    ],
  };
}

function renderFound(found: SearchResults) {
  const table: RecordTable<SearchResults["results"][number]> = {
    caption: "Submissions found, the best match first",
    rows: found.results,
    empty: "No submission has all these words.",
    columns: [
      {
        header: "Title",
        value: ({ label, id }) => label ?? id,
        render: ({ id, label }) => html`<a href="/submissions/${id}">${label || "Without a title"}</a>`,
      },
      { header: "State", value: ({ state }) => formatCode(state) },
      { header: "Found in", value: ({ matched }) => matched.join(", ") },
      { header: "Text", value: ({ excerpt = null }) => excerpt },
    ],
  };
  return html`${renderRecords(table)}${renderGaps(found)}`;
}
