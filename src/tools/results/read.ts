import type { PageMeta } from "../../contract/definition/page.ts";
import { type CallName, operations } from "../../contract/index.ts";
import { countRowsThatFit, measureJsonBytes } from "../../lib/json-cache.ts";
import type { Failure, Success, UpstreamCall } from "../../upstream/port.ts";
import type { CallControl } from "../call-control.ts";
import type { OwnArguments } from "../catalog/tool-options.ts";
import type { ToolSession } from "../session.ts";
import { getRecordSchema, listKeptFields, pickFields } from "./field-selection.ts";
import { readPages } from "./pages.ts";
import { truncateRecord } from "./truncate.ts";

type Row = Readonly<Record<string, unknown>>;

/** What a call answered, as it is to be shown. */
export interface ShownData {
  readonly ok: true;
  readonly data: unknown;
  readonly page?: PageMeta | undefined;
  readonly notes: readonly string[];
  /** The data before anything was left out of it. */
  readonly whole?: unknown;
}

/** Answers a read: the fields selected, as many rows as fit, or every page. */
export async function readTool(
  session: ToolSession,
  call: UpstreamCall,
  own: OwnArguments,
  following: CallControl,
): Promise<ShownData | Failure> {
  const { upstream, settings } = session;
  const maxBytes = settings.resultBytes;
  if (!operations[call.operation].paginated) {
    const answer = await upstream.call(call);
    if (!answer.ok) return answer;
    const shown = showData(call.operation, answer, own.select, maxBytes);
    return { ...shown, notes: [...createBoundNotes(call, answer.data), ...shown.notes] };
  }
  const pages = await readPages(call.input, {
    ask: (input) => upstream.call({ ...call, input }),
    show: createSelection(call.operation, own.select),
    maxBytes,
    all: own.all === true,
    ...following,
  });
  if (!pages.ok) return pages;
  const { rows, page, notes } = pages;
  const shown = showRows(call.operation, rows, maxBytes);
  return { ok: true, data: shown.rows, page, notes: [...notes, ...shown.notes] };
}

/** Says of a list without pages that it may have been cut, and by what. */
function createBoundNotes({ operation, input }: UpstreamCall, data: unknown): readonly string[] {
  const { maxRows, queryObject } = operations[operation];
  if (maxRows === undefined || !Array.isArray(data)) return [];
  const limit = Math.min(Number(input["limit"] ?? maxRows), maxRows);
  if (data.length < limit) return [];
  const advice = limit < maxRows ? ` Call again with a limit of up to ${maxRows}.` : "";
  const bound = Object.hasOwn(queryObject.shape, "limit") ? `limit ${limit}` : `${limit} rows, the most that it gives`;
  return [`The list is cut at ${bound}: there may be more.${advice}`];
}

/** Data as it is shown: the fields selected, and no more than fits. */
export function showData(
  name: CallName,
  { data, replayed }: Pick<Success, "data" | "replayed">,
  select: readonly string[] | undefined,
  maxBytes: number,
): ShownData {
  const show = createSelection(name, select);
  const before = replayed ? ["This is the answer of an earlier identical call; nothing was applied again."] : [];
  if (Array.isArray(data)) {
    const { rows, notes } = showRows(name, data.map(show), maxBytes);
    return { ok: true, data: rows, notes: [...before, ...notes] };
  }
  const { record, notes } = showRecord(name, show(data as Row), maxBytes);
  return { ok: true, data: record, whole: data, notes: [...before, ...notes] };
}

function createSelection(name: CallName, select: readonly string[] | undefined): (row: Row) => Row {
  if (!select) return (row) => row;
  const paths = [...listKeptFields(getRecordSchema(name)), ...select];
  return (row) => pickFields(row, paths);
}

function showRows(name: CallName, rows: readonly Row[], maxBytes: number) {
  const count = countRowsThatFit(rows, maxBytes);
  if (count === rows.length) return { rows, notes: [] };
  const [first = {}] = rows;
  // A row that is alone too large is shown without its largest fields rather than not at all.
  const { record, notes } = count === 0 ? showRecord(name, first, maxBytes - 2) : { record: first, notes: [] };
  const shown = count === 0 ? [record] : rows.slice(0, count);
  const cut = `The first ${shown.length} of ${rows.length} rows are shown: a result holds ${maxBytes} bytes. Select fewer fields to have the rest.`;
  return { rows: shown, notes: shown.length < rows.length ? [cut, ...notes] : notes };
}

function showRecord(name: CallName, row: Row, maxBytes: number) {
  if (measureJsonBytes(row) <= maxBytes) return { record: row, notes: [] };
  const { record, left, cut } = truncateRecord(row, listKeptFields(getRecordSchema(name)), maxBytes);
  const how =
    operations[name].effect === "read"
      ? "Ask for them one at a time with select"
      : "Read the record with select to have them";
  return {
    record,
    notes: [
      ...(left.length > 0 ? [`Left out for their size: ${formatList(left)}. ${how}.`] : []),
      ...cut.slice(0, maxNamed),
      ...(cut.length > 0 ? [`A result holds ${maxBytes} bytes (PROGRAMME_RESULT_BYTES of the server).`] : []),
    ],
  };
}

const maxNamed = 20;

function formatList(paths: readonly string[]): string {
  const more = paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : "";
  return `${paths.slice(0, maxNamed).join(", ")}${more}`;
}
