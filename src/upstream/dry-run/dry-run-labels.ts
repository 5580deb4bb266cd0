import { Problem } from "../../contract/errors.ts";
import type { OperationName } from "../../contract/index.ts";
import type { ReadRemote, RemoteChange, RemoteRow } from "./dry-run-reads.ts";

/** Number of names of one kind that are read for a question. It shows hardly more. */
const maxOfKind = 12;

interface Kind {
  readonly columns: readonly string[];
  /** The operation that reads a record with its name. */
  readonly from: OperationName;
  readonly id: string;
  readonly labelOf: (row: RemoteRow) => string;
}

const kinds: readonly Kind[] = [
  { columns: ["programId"], from: "get_program", id: "programId", labelOf: (row) => String(row["name"] ?? "") },
  { columns: ["submissionId"], from: "get_submission", id: "submissionId", labelOf: getSubmissionTitle },
  { columns: ["reviewerId"], from: "get_reviewer", id: "reviewerId", labelOf: getReviewerName },
];

export function getReviewerName(reviewer: RemoteRow): string {
  return [reviewer["firstName"], reviewer["lastName"]].filter(Boolean).join(" ");
}

function getSubmissionTitle(submission: RemoteRow): string {
  return String(submission["title"] ?? "");
}

/** Reads the names of changed records, if they are few and the caller may read them. */
export async function readLabels(
  read: ReadRemote,
  changes: readonly RemoteChange[],
  known: ReadonlyMap<string, string> = new Map(),
): Promise<ReadonlyMap<string, string>> {
  const labels = new Map([...known, ...listTitles(changes)]);
  const readings = kinds.flatMap(({ columns, from, id, labelOf }) =>
    listIds(changes, columns)
      .filter((wanted) => !labels.has(wanted))
      .slice(0, maxOfKind)
      .map(async (wanted) => {
        const row = await ignoreFailure(read(from, { [id]: wanted }));
        if (row) labels.set(wanted, labelOf(row.data as RemoteRow));
      }),
  );
  await Promise.all([...readings, roundNames(read, changes, labels)]);
  return labels;
}

/** Reads the names of rounds, which are listed by programme only. */
async function roundNames(
  read: ReadRemote,
  changes: readonly RemoteChange[],
  labels: Map<string, string>,
): Promise<void> {
  if (listIds(changes, ["roundId", "currentRoundId"]).length === 0) return;
  for (const programId of listIds(changes, ["programId"]).slice(0, 1)) {
    const rounds = await ignoreFailure(read("list_rounds", { programId }));
    for (const row of (rounds?.data ?? []) as readonly RemoteRow[]) {
      labels.set(String(row["roundId"]), String(row["name"] ?? ""));
    }
  }
}

/** Returns undefined if the read fails. The question then shows the record's id. */
async function ignoreFailure<R>(reading: Promise<R>): Promise<R | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

function listTitles(changes: readonly RemoteChange[]): [string, string][] {
  const submissions = changes.filter(({ table }) => table === "submissions");
  return submissions.flatMap(({ id, before }) => (before?.["title"] ? [[id, getSubmissionTitle(before)]] : []));
}

function listIds(changes: readonly RemoteChange[], columns: readonly string[]): string[] {
  const ids = changes.flatMap(({ before, after }) => columns.map((column) => (before ?? after)?.[column]));
  return [...new Set(ids.filter((id) => typeof id === "string"))];
}
