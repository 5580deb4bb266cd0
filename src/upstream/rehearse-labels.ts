import { Problem } from "../contract/errors.ts";
import type { OperationName } from "../contract/index.ts";
import type { Change, ReadRemote, Row } from "./rehearse-reads.ts";

/** Names of one kind that are read for one question; it shows hardly more. */
const maxOfKind = 12;

interface Kind {
  readonly columns: readonly string[];
  /** Where the names of these records are read, each by its id. */
  readonly from: OperationName;
  readonly id: string;
  readonly labelOf: (row: Row) => string;
}

const kinds: readonly Kind[] = [
  { columns: ["programId"], from: "get_program", id: "programId", labelOf: (row) => String(row["name"] ?? "") },
  { columns: ["submissionId"], from: "get_submission", id: "submissionId", labelOf: titleOf },
  { columns: ["reviewerId"], from: "get_reviewer", id: "reviewerId", labelOf: nameOf },
];

export function nameOf(reviewer: Row): string {
  return [reviewer["firstName"], reviewer["lastName"]].filter(Boolean).join(" ");
}

function titleOf(submission: Row): string {
  return String(submission["title"] ?? "");
}

/** The names of the records that changes speak of, as far as the caller may read such records and few are needed. */
export async function labelsOf(
  read: ReadRemote,
  changes: readonly Change[],
  known: ReadonlyMap<string, string> = new Map(),
): Promise<ReadonlyMap<string, string>> {
  const labels = new Map([...known, ...titlesIn(changes)]);
  const readings = kinds.flatMap(({ columns, from, id, labelOf }) =>
    idsIn(changes, columns)
      .filter((wanted) => !labels.has(wanted))
      .slice(0, maxOfKind)
      .map(async (wanted) => {
        const row = await orNothing(read(from, { [id]: wanted }));
        if (row) labels.set(wanted, labelOf(row.data as Row));
      }),
  );
  await Promise.all([...readings, roundNames(read, changes, labels)]);
  return labels;
}

/** Rounds are listed by programme alone. */
async function roundNames(read: ReadRemote, changes: readonly Change[], labels: Map<string, string>): Promise<void> {
  if (idsIn(changes, ["roundId", "currentRoundId"]).length === 0) return;
  for (const programId of idsIn(changes, ["programId"]).slice(0, 1)) {
    const rounds = await orNothing(read("list_rounds", { programId }));
    for (const row of (rounds?.data ?? []) as readonly Row[]) {
      labels.set(String(row["roundId"]), String(row["name"] ?? ""));
    }
  }
}

/** Without a name a record is shown by its id; the question is asked all the same. */
async function orNothing<R>(reading: Promise<R>): Promise<R | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

function titlesIn(changes: readonly Change[]): [string, string][] {
  const submissions = changes.filter(({ table }) => table === "submissions");
  return submissions.flatMap(({ id, before }) => (before?.["title"] ? [[id, titleOf(before)]] : []));
}

function idsIn(changes: readonly Change[], columns: readonly string[]): string[] {
  const ids = changes.flatMap(({ before, after }) => columns.map((column) => (before ?? after)?.[column]));
  return [...new Set(ids.filter((id) => typeof id === "string"))];
}
