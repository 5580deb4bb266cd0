import type { Assignment } from "../../contract/assignments.ts";
import type { OperationName } from "../../contract/index.ts";
import type { Round, Track } from "../../contract/programs.ts";
import type { Submission } from "../../contract/submissions.ts";
import type { UpstreamCall } from "../../upstream/port.ts";
import { readUpstreamList } from "../caller-reads.ts";
import type { ToolSession } from "../session.ts";

type Values = Readonly<Record<string, unknown>>;

/** The rows that could be read; `undefined` if the caller may not read them. */
interface ReadRows<Row> {
  readonly rows: readonly Row[];
  readonly complete: boolean;
}

type Read = <Row>(operation: OperationName, input: Values) => Promise<ReadRows<Row> | undefined>;

/** Most pages of one list that are read for notes. */
const maxPages = 3;

/**
 * Lists notes on dates that do not fit to the dates that a call has set: of the record itself, of its neighbours and of
 * what depends on it. Reads as the caller; what the caller may not read is not noted.
 */
export async function listScheduleNotes(session: ToolSession, call: UpstreamCall, data: unknown): Promise<string[]> {
  const { operation, input } = call;
  if (!Object.keys(input).some((name) => /date$|deadline$/i.test(name))) return [];
  const read = createRead(session, call);
  if (operation === "update_round") return listRoundNotes(read, data as Round);
  return operation === "update_track" ? listTrackNotes(read, data as Track) : [];
}

async function listRoundNotes(read: Read, round: Round): Promise<string[]> {
  const { programId, trackId, roundId, sequence, startDate, endDate, deadline } = round;
  const rounds = (await read<Round>("list_rounds", { programId }))?.rows ?? [];
  const others = rounds
    .filter((other) => other.trackId === trackId && other.roundId !== roundId)
    .toSorted((a, b) => a.sequence - b.sequence);
  const previous = others.findLast((other) => other.sequence < sequence);
  const next = others.find((other) => other.sequence > sequence);
  const assignments = deadline
    ? await read<Assignment>("list_assignments", { roundId, status: "incomplete" })
    : undefined;
  return [
    ...noteIfLater("The round starts", startDate, "it ends", endDate),
    ...noteIfLater("The deadline is", deadline, "the round's end", endDate),
    ...(next ? noteIfLater("The round ends", endDate, `the next round (${next.roundId}) starts`, next.startDate) : []),
    ...(previous
      ? noteIfLater(`The previous round (${previous.roundId}) ends`, previous.endDate, "this one starts", startDate)
      : []),
    ...noteEarlier("open assignment", assignments, ({ dueAt }) => dueAt, deadline),
  ];
}

async function listTrackNotes(read: Read, track: Track): Promise<string[]> {
  const { programId, trackId, intakeOpenDate, intakeCloseDate } = track;
  const rounds = (await read<Round>("list_rounds", { programId }))?.rows ?? [];
  const [first] = rounds.filter((round) => round.trackId === trackId).toSorted((a, b) => a.sequence - b.sequence);
  const drafts = intakeCloseDate ? await read<Submission>("list_submissions", { trackId, state: "DRAFT" }) : undefined;
  return [
    ...noteIfLater("The intake opens", intakeOpenDate, "it closes", intakeCloseDate),
    ...(first
      ? noteIfLater("The intake closes", intakeCloseDate, `the first round (${first.roundId}) starts`, first.startDate)
      : []),
    ...noteEarlier("draft", drafts, ({ deadline }) => deadline, intakeCloseDate),
  ];
}

/** Returns a note if a time that should be the earlier one is the later one. */
function noteIfLater(what: string, time: string | null, other: string, otherTime: string | null): string[] {
  if (time === null || otherTime === null || Date.parse(time) <= Date.parse(otherTime)) return [];
  return [`Does not fit: ${what} at ${time}, after ${other} at ${otherTime}.`];
}

/** Returns a note on how many rows have an earlier time of their own. */
function noteEarlier<Row>(
  noun: string,
  read: ReadRows<Row> | undefined,
  getTime: (row: Row) => string | null,
  time: string | null,
): string[] {
  if (!read || time === null) return [];
  const own = read.rows.map(getTime).filter((other) => other !== null && Date.parse(other) < Date.parse(time));
  if (own.length === 0) return [];
  const count = `${read.complete ? "" : "at least "}${own.length} ${noun}${own.length === 1 ? "" : "s"}`;
  return [`Does not fit: ${count} with a deadline of ${own.length === 1 ? "its" : "their"} own before ${time}.`];
}

function createRead(session: ToolSession, call: UpstreamCall): Read {
  return async <Row>(operation: OperationName, input: Values) => {
    const list = await readUpstreamList(session, call, operation, input, maxPages);
    return list.ok ? { rows: list.rows as readonly Row[], complete: list.complete } : undefined;
  };
}
