import type { Scope } from "../contract/scopes.ts";
import { sha256Hex } from "../lib/crypto.ts";
import type { Change, Reader } from "../store/port.ts";
import type { TableName } from "../store/tables.ts";

export type { Confirmed } from "../store/port.ts";

/** What an operation would do: it was run in a transaction that was undone again. */
export interface Rehearsal {
  readonly ok: true;
  readonly changes: readonly Change[];
  /** What the operation would answer. */
  readonly data: unknown;
  /** Names of the records that the changes speak of, by id, as far as the caller may read them. */
  readonly labels: ReadonlyMap<string, string>;
  /** Of the changes: the same as long as the same would happen. */
  readonly digest: string;
  /** Where the service itself makes the plan when it is called: what that starts from. */
  readonly outlook?: Outlook;
}

/** What can be read of a round before its assignments are planned. */
export interface Outlook {
  readonly submissions: number;
  /** Nothing where the number wanted of each cannot be read. */
  readonly reviewsMissing: number | undefined;
  /** Who may be assigned, with how many assignments each has in the round. */
  readonly reviewers: readonly { readonly reviewerId: string; readonly load: number }[];
  /** Whether that is all of it. */
  readonly complete: boolean;
}

/** Thrown to undo a rehearsal's transaction; carries out what it would have done. */
export class Rehearsed extends Error {
  readonly rehearsal: Rehearsal;

  constructor(rehearsal: Rehearsal) {
    super("rehearsed");
    this.rehearsal = rehearsal;
  }
}

/** What tells new rows apart, of which ids and times differ from one run to the next. */
const identity: Partial<Record<TableName, readonly string[]>> = {
  assignments: ["submissionId", "reviewerId"],
  emailSends: ["recipientEmail", "subject", "body", "status"],
};

/** The same for the same changes to the same versions of the same records. */
export function digestOf(changes: readonly Change[]): string {
  const essence = changes.map(({ table, id, before, after }) =>
    before ? [table, id, before["version"]] : [table, ...(identity[table] ?? []).map((column) => after?.[column])],
  );
  return sha256Hex(JSON.stringify(essence));
}

interface Labelled {
  readonly table: TableName;
  readonly scope: Scope;
  readonly labelOf: (row: Readonly<Record<string, unknown>>) => string;
}

const labelled: Readonly<Record<string, Labelled>> = {
  programId: { table: "programs", scope: "programs:read", labelOf: (row) => String(row["name"]) },
  roundId: { table: "rounds", scope: "rounds:read", labelOf: (row) => String(row["name"]) },
  currentRoundId: { table: "rounds", scope: "rounds:read", labelOf: (row) => String(row["name"]) },
  submissionId: { table: "submissions", scope: "submissions:read", labelOf: (row) => String(row["title"] ?? "") },
  reviewerId: {
    table: "reviewers",
    scope: "reviewers:read",
    labelOf: (row) => [row["firstName"], row["lastName"]].filter(Boolean).join(" "),
  },
};

/** More names than a question can show. */
const maxLabels = 500;

/** The names of the records that changed rows refer to, where the caller may read such records. */
export async function labelsOf(
  store: Reader,
  scopes: ReadonlySet<Scope>,
  changes: readonly Change[],
): Promise<Map<string, string>> {
  const labels = new Map<string, string>();
  for (const [column, { table, scope, labelOf }] of Object.entries(labelled)) {
    if (!scopes.has(scope)) continue;
    const rows = changes.flatMap(({ before, after }) => [before?.[column], after?.[column]]);
    const ids = [...new Set(rows.filter((id) => typeof id === "string"))].slice(0, maxLabels);
    if (ids.length === 0) continue;
    const where = { [idColumnOf(column)]: ids };
    for (const row of await store.find(table, { where }, { limit: maxLabels })) {
      labels.set(String((row as Record<string, unknown>)[idColumnOf(column)]), labelOf(row));
    }
  }
  return labels;
}

function idColumnOf(column: string): string {
  return column === "currentRoundId" ? "roundId" : column;
}
