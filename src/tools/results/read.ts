import type { PageMeta } from "../../contract/definition/page.ts";
import type { Gaps } from "../../contract/definition/workflow.ts";
import { type CallName, isWorkflowName, operations } from "../../contract/index.ts";
import type { ReviewsSummary } from "../../contract/reviews.ts";
import { measureJsonBytes, measureRows } from "../../lib/json-cache.ts";
import type { Failure, Success, UpstreamCall } from "../../upstream/port.ts";
import type { CallControl } from "../call-control.ts";
import type { ToolOptionValues } from "../catalog/tool-options.ts";
import { createFieldDeclarations } from "../fields/declared-fields.ts";
import { createRowView, type RowView, wholeRows } from "../fields/row-view.ts";
import type { RowFilter } from "../filters/row-filters.ts";
import { createScan } from "../filters/scan.ts";
import type { ToolSession } from "../session.ts";
import { formatPaths } from "./brief.ts";
import { listEmptyListNotes } from "./empty-list-notes.ts";
import { getRecordSchema, listRequiredFields } from "./field-selection.ts";
import { readPages } from "./pages.ts";
import { loadScoreStatistics } from "./reviews-summary.ts";
import { createRowSizes } from "./row-sizes.ts";
import { truncateRecord } from "./truncate.ts";

type Row = Readonly<Record<string, unknown>>;

/** The data of a response as the caller sees them. */
export interface ToolData {
  readonly ok: true;
  readonly data: unknown;
  readonly page?: PageMeta | undefined;
  readonly notes: readonly string[];
  /** The number of rows, if not every requested one is shown. */
  readonly total?: string | undefined;
  /** The data before fields were omitted. */
  readonly untruncated?: unknown;
}

/** Answers a read: selected fields, as many rows as fit, or every page. */
export function readTool(
  session: ToolSession,
  call: UpstreamCall,
  options: ToolOptionValues,
  control: CallControl,
): Promise<ToolData | Failure> {
  const view = createView(session, call, options.select?.paths, options.labels);
  return operations[call.operation].paginated
    ? readList(session, call, options, view, control)
    : readWhole(session, call, options.filter, view);
}

/** Answers a read with pages. */
async function readList(
  { upstream, settings }: ToolSession,
  call: UpstreamCall,
  options: ToolOptionValues,
  view: RowView,
  control: CallControl,
): Promise<ToolData | Failure> {
  const maxBytes = settings.resultBytes;
  const { operation, identity } = call;
  const list = [identity?.caller, operation, options.select?.paths, options.labels];
  const { filter } = options;
  const readPage = (input: Row) => upstream.call({ ...call, input });
  const scan = filter && createScan(filter, readPage, control);
  const pages = await readPages(call.input, {
    async requestPage(input) {
      const answer = await (scan?.requestPage ?? readPage)(input);
      if (answer.ok) await view.load?.(answer.data as readonly Row[]);
      return answer;
    },
    findBoundNote: () => scan?.findBoundNote(),
    toVisibleRow: view.toVisibleRow,
    maxBytes,
    all: options.all === true,
    // A scan reads whole pages of the list for one page of its own.
    rowSizes: scan ? undefined : createRowSizes(upstream, list),
    requiredFields: options.select ? undefined : listRequiredFields(getRecordSchema(call.operation)),
    ...control,
  });
  if (!pages.ok) return pages;
  const { rows, page, notes, total } = pages;
  const fitted = fitRows(call.operation, rows, maxBytes);
  const emptyNotes = rows.length === 0 ? listEmptyListNotes(call) : [];
  const allNotes = [...view.listNotes(), ...notes, ...emptyNotes, ...fitted.notes];
  return { ok: true, data: fitted.rows, page, notes: allNotes, total };
}

/** Answers a read without pages. */
async function readWhole(
  session: ToolSession,
  call: UpstreamCall,
  filter: RowFilter | undefined,
  view: RowView,
): Promise<ToolData | Failure> {
  const { operation } = call;
  const answer = await session.upstream.call(call);
  if (!answer.ok) return answer;
  const isSummary = operation === "get_submission_reviews_summary";
  const { data, notes } = isSummary
    ? await loadScoreStatistics(session, call, answer.data as ReviewsSummary)
    : { data: filter ? (answer.data as readonly Row[]).filter(filter.matches) : answer.data, notes: [] };
  const fitted = await fitData(operation, { ...answer, data }, view, session.settings.resultBytes);
  const gaps = isWorkflowName(operation) ? createGapNotes(answer.data as Gaps) : createBoundNotes(call, answer.data);
  return { ...fitted, notes: [...notes, ...gaps, ...fitted.notes] };
}

/** Returns what a write answered, with the fields at these paths; `undefined` for all. */
export async function showAnswer(
  session: ToolSession,
  call: UpstreamCall,
  answer: Pick<Success, "data" | "replayed">,
  paths: readonly string[] | undefined,
): Promise<ToolData> {
  const view = createView(session, call, paths, false);
  return fitData(call.operation, answer, view, session.settings.resultBytes);
}

function createView(
  session: ToolSession,
  call: UpstreamCall,
  paths: readonly string[] | undefined,
  labels = false,
): RowView {
  if (paths === undefined && !labels) return wholeRows;
  return createRowView(call.operation, { paths, labels }, createFieldDeclarations(session, call));
}

/** Returns a note if a list without pages may have been truncated. */
function createBoundNotes({ operation, input }: UpstreamCall, data: unknown): readonly string[] {
  const { maxRows, queryObject } = operations[operation];
  if (maxRows === undefined || !Array.isArray(data)) return [];
  const limit = Math.min(Number(input["limit"] ?? maxRows), maxRows);
  if (data.length < limit) return [];
  const advice = limit < maxRows ? ` Call again with a limit of up to ${maxRows}.` : "";
  const bound = Object.hasOwn(queryObject.shape, "limit") ? `limit ${limit}` : `${limit} rows, its maximum`;
  return [`The list is truncated at ${bound}: there may be more rows.${advice}`];
}

/** Returns notes on what a workflow's answer lacks. */
function createGapNotes({ omitted = [], truncated = [], incomplete = [] }: Gaps): readonly string[] {
  return [
    ...truncated.map(
      ({ list, shown, of }) => `${list}: ${shown} of ${of} are shown. Raise limit or narrow the filters.`,
    ),
    ...omitted.map(({ what, scope }) => `Left out, because the token lacks ${scope}: ${what}.`),
    ...incomplete.map(
      ({ operation, rows }) => `Incomplete: only the first ${rows} rows of ${operation} were read. Narrow the filters.`,
    ),
  ];
}

/** Returns data as the view shows them, truncated to fit. */
async function fitData(
  name: CallName,
  { data, replayed }: Pick<Success, "data" | "replayed">,
  view: RowView,
  maxBytes: number,
): Promise<ToolData> {
  if (view.load) await view.load((Array.isArray(data) ? data : [data]) as readonly Row[]);
  const replayNotes = replayed ? ["This is the result of an earlier identical call. Nothing was applied again."] : [];
  if (Array.isArray(data)) {
    const { rows, notes } = fitRows(name, data.map(view.toVisibleRow), maxBytes);
    return { ok: true, data: rows, notes: [...replayNotes, ...view.listNotes(), ...notes] };
  }
  const { record, notes } = fitRecord(name, view.toVisibleRow(data as Row), maxBytes);
  return { ok: true, data: record, untruncated: data, notes: [...replayNotes, ...view.listNotes(), ...notes] };
}

function fitRows(name: CallName, rows: readonly Row[], maxBytes: number) {
  const count = measureRows(rows, maxBytes).count;
  if (count === rows.length) return { rows, notes: [] };
  const [first = {}] = rows;
  // A row that is too large on its own is shown without its largest fields.
  const { record, notes } = count === 0 ? fitRecord(name, first, maxBytes - 2) : { record: first, notes: [] };
  const fitted = count === 0 ? [record] : rows.slice(0, count);
  const shortened = `The first ${fitted.length} of ${rows.length} rows are shown: a result holds ${maxBytes} bytes. Select fewer fields to get the rest.`;
  return { rows: fitted, notes: fitted.length < rows.length ? [shortened, ...notes] : notes };
}

/** Most sentences about shortened values. */
const maxShortened = 20;

function fitRecord(name: CallName, row: Row, maxBytes: number) {
  if (measureJsonBytes(row) <= maxBytes) return { record: row, notes: [] };
  const { record, omitted, shortened } = truncateRecord(row, listRequiredFields(getRecordSchema(name)), maxBytes);
  const how =
    operations[name].effect === "read" ? "Select them one at a time" : "Read the record with select to get them";
  return {
    record,
    notes: [
      ...(omitted.length > 0 ? [`Omitted because of their size: ${formatPaths(omitted)}. ${how}.`] : []),
      ...shortened.slice(0, maxShortened),
      ...(shortened.length > 0 ? [`A result holds ${maxBytes} bytes (PROGRAMME_RESULT_BYTES of the server).`] : []),
    ],
  };
}
