import type { PageOf } from "../../contract/definition/operation.ts";
import { maxLimit } from "../../contract/definition/page.ts";
import type { Problem } from "../../contract/errors.ts";
import type { Submission } from "../../contract/submissions.ts";
import { createReviewerTable, createRoundTable } from "../../pages/components/progress.ts";
import { createScoreTable } from "../../pages/components/scores.ts";
import { type TableFormat, tableFormats } from "../../pages/components/table.ts";
import {
  type ListPage,
  programsPath,
  type ReadResult,
  renderProgramOverview,
  renderProgramsPage,
  renderReviewersPage,
} from "../../pages/console/programs.ts";
import { renderRemotePage } from "../../pages/console/refusal.ts";
import { renderScoresPage } from "../../pages/console/scores.ts";
import { renderSubmissionPage } from "../../pages/console/submission.ts";
import {
  createSubmissionTable,
  type ProgramParts,
  renderSubmissionsPage,
  type SubmissionFilter,
} from "../../pages/console/submissions.ts";
import type { PeopleApp } from "../people/browser-request.ts";
import { type ConsoleRequest, type ConsoleServices, createConsoleHandler } from "./console-page.ts";
import type { PageData, PageReader } from "./page-reader.ts";
import { answerProblem, listFilterMistakes } from "./person-page.ts";
import { createTableFile } from "./table-file.ts";

/** A request for records, of which there are some. */
interface RecordRequest extends ConsoleRequest {
  readonly reader: PageReader;
}

const maxFileRows = 2000;
const maxTableRows = 500;
const pageRows = 50;
const maxFound = 50;

/** Adds the pages of programmes and submissions. */
export function addProgramRoutes(app: PeopleApp, services: ConsoleServices): void {
  const addPage = (path: string, show: (request: RecordRequest) => Promise<Response>) =>
    app.get(
      path,
      createConsoleHandler(services, (request) => {
        const { context, user, reader } = request;
        return reader ? show({ ...request, reader }) : context.html(renderRemotePage(user, programsPath));
      }),
    );
  addPage(programsPath, showPrograms);
  addPage(`${programsPath}/:programId`, showOverview);
  addPage(`${programsPath}/:programId/submissions`, showSubmissions);
  addPage(`${programsPath}/:programId/reviewers`, showReviewers);
  addPage(`${programsPath}/:programId/scores`, showScores);
  addPage("/submissions/:submissionId", showSubmission);
  addPage("/files/:fileId/download", openFile);
}

async function showPrograms(request: RecordRequest): Promise<Response> {
  const { context, user, reader } = request;
  const answer = await reader.read("list_programs", {
    limit: pageRows,
    lastEvaluatedKey: context.req.query("cursor"),
  });
  if (!answer.ok) return refuse(request, answer.problem);
  return context.html(renderProgramsPage(user, toListPage(answer.data)));
}

async function showOverview(request: RecordRequest): Promise<Response> {
  const { context, user, reader } = request;
  const program = await readProgram(request);
  if (!program.ok) return refuse(request, program.problem);
  const { programId } = program.data;
  const progress = await reader.read("get_review_progress", { programId, limit: maxTableRows });
  const format = parseFormat(request);
  if (format) {
    if (!progress.ok) return refuse(request, progress.problem);
    return createTableFile(createRoundTable(progress.data.rounds), format, "rounds");
  }
  const openWork = await reader.read("list_open_work", { programId });
  return context.html(renderProgramOverview({ user, program: program.data, progress, openWork }));
}

async function showReviewers(request: RecordRequest): Promise<Response> {
  const program = await readProgram(request);
  if (!program.ok) return refuse(request, program.problem);
  const { context, user, reader } = request;
  const { programId } = program.data;
  const progress = await reader.read("get_review_progress", { programId, limit: maxTableRows });
  if (!progress.ok) return refuse(request, progress.problem);
  const format = parseFormat(request);
  if (format) return createTableFile(createReviewerTable(progress.data.reviewers), format, "reviewers");
  return context.html(renderReviewersPage(user, program.data, progress.data));
}

async function showScores(request: RecordRequest): Promise<Response> {
  const program = await readProgram(request);
  if (!program.ok) return refuse(request, program.problem);
  const { context, user, reader } = request;
  const { programId } = program.data;
  const roundId = context.req.query("roundId");
  const scores = await reader.read("get_score_table", { programId, roundId, limit: maxTableRows });
  if (!scores.ok) return refuse(request, scores.problem);
  const format = parseFormat(request);
  const [round] = scores.data.rounds;
  if (format && round) return createTableFile(createScoreTable(round), format, "scores");
  return context.html(renderScoresPage(user, program.data, scores.data));
}

async function showSubmissions(request: RecordRequest): Promise<Response> {
  const program = await readProgram(request);
  if (!program.ok) return refuse(request, program.problem);
  const { context, user, reader } = request;
  const { programId } = program.data;
  const parts = await readParts(reader, programId);
  const { state = "", trackId = "", roundId = "", words = "", cursor } = context.req.query();
  const filter = { state, trackId, roundId };
  const format = parseFormat(request);
  if (format) {
    const rows = await readSubmissions(reader, { programId, ...filter });
    if (!rows.ok) return refuse(request, rows.problem);
    return createTableFile(createSubmissionTable(rows.data, parts), format, "submissions");
  }
  const found = words
    ? await reader.read("search_records", { words, kinds: ["submission"], programId, limit: maxFound })
    : undefined;
  const input = { programId, ...filter, limit: pageRows, lastEvaluatedKey: cursor };
  const list = found ? undefined : await reader.read("list_submissions", input);
  const answer = found ?? list;
  const mistakes = answer?.ok === false ? listFilterMistakes(answer.problem, ["words", ...Object.keys(filter)]) : [];
  const page = { user, program: program.data, filter, words, found, mistakes, maxFileRows, ...parts };
  return context.html(
    renderSubmissionsPage({ ...page, list: list?.ok ? { ok: true, data: toListPage(list.data) } : list }),
    answer?.ok === false ? (answer.problem.status as 400) : 200,
  );
}

async function showSubmission(request: RecordRequest): Promise<Response> {
  const { context, user, reader } = request;
  const submissionId = context.req.param("submissionId");
  const brief = await reader.read("get_submission_brief", { submissionId });
  if (!brief.ok) return refuse(request, brief.problem);
  const history = await reader.read("get_history", { submissionId, to: context.req.query("to") });
  return context.html(renderSubmissionPage({ user, brief: brief.data, history }));
}

async function openFile(request: RecordRequest): Promise<Response> {
  const { context, reader } = request;
  const answer = await reader.read("get_file_download_url", { fileId: context.req.param("fileId") });
  return answer.ok ? context.redirect(answer.data.downloadUrl, 303) : refuse(request, answer.problem);
}

function readProgram({ context, reader }: RecordRequest): Promise<PageData<"get_program">> {
  return reader.read("get_program", { programId: context.req.param("programId") });
}

/** Reads the names of tracks and rounds. They are missing for a person who may not see them. */
async function readParts(reader: PageReader, programId: string): Promise<ProgramParts> {
  const tracks = await reader.read("list_tracks", { programId, limit: maxLimit });
  const rounds = await reader.read("list_rounds", { programId });
  return { tracks: tracks.ok ? tracks.data.rows : [], rounds: rounds.ok ? rounds.data : [] };
}

/** Reads the submissions of a file, page by page. */
async function readSubmissions(
  reader: PageReader,
  filter: SubmissionFilter & { readonly programId: string },
): Promise<ReadResult<readonly Submission[]>> {
  const rows: Submission[] = [];
  let cursor: string | undefined;
  do {
    const page = await reader.read("list_submissions", { ...filter, limit: maxLimit, lastEvaluatedKey: cursor });
    if (!page.ok) return page;
    rows.push(...page.data.rows);
    cursor = page.data.lastEvaluatedKey;
  } while (cursor !== undefined && rows.length < maxFileRows);
  return { ok: true, data: rows };
}

function toListPage<Row>({ rows, lastEvaluatedKey: next }: PageOf<Row>): ListPage<Row> {
  return { rows, next };
}

function parseFormat({ context }: RecordRequest): TableFormat | undefined {
  return tableFormats.find((format) => format === context.req.query("format"));
}

function refuse({ context, user }: ConsoleRequest, problem: Problem): Response | Promise<Response> {
  return answerProblem(context, user, problem, programsPath);
}
