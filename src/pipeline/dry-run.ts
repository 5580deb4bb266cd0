import type { Scope } from "../contract/scopes.ts";
import { hashSha256Hex } from "../lib/crypto/crypto.ts";
import type { Links } from "../store/handler-context.ts";
import type { Change, Reader } from "../store/port.ts";
import { normalizeEmail, type TableName } from "../store/tables.ts";

export type { ConsumedNonce } from "../store/port.ts";

/** What an operation would do: it was run in a transaction that was undone again. */
export interface DryRunResult {
  readonly ok: true;
  readonly changes: readonly Change[];
  /** What the operation would answer. */
  readonly data: unknown;
  /** Names of the records that the changes speak of, by id, as far as the caller may read them. */
  readonly labels: ReadonlyMap<string, string>;
  /** Of the changes: the same as long as the same would happen. */
  readonly digest: string;
  /** Where the service itself makes the plan when it is called: what that starts from. */
  readonly planningContext?: PlanningContext;
}

/** What can be read of a round before its assignments are planned. */
export interface PlanningContext {
  readonly submissions: number;
  /** Nothing where the number wanted of each cannot be read. */
  readonly reviewsMissing: number | undefined;
  /** Who may be assigned, with how many assignments each has in the round. */
  readonly reviewers: readonly { readonly reviewerId: string; readonly load: number }[];
  /** Whether that is all of it. */
  readonly complete: boolean;
}

/** Thrown to undo a rehearsal's transaction; carries out what it would have done. */
export class RollbackSignal extends Error {
  readonly dryRunResult: DryRunResult;

  constructor(dryRunResult: DryRunResult) {
    super("rehearsed");
    this.dryRunResult = dryRunResult;
  }
}

type Values = Readonly<Record<string, unknown>>;

/** Returns what tells new rows apart: ids and times differ from one run to the next. */
const identity: Partial<Record<TableName, (row: Values) => readonly unknown[]>> = {
  assignments: ({ submissionId, reviewerId }) => [submissionId, reviewerId],
  // What a template writes holds a new secret each time; what goes into it is bound by the arguments and by versions.
  emailSends: ({ recipientEmail, subject, template, body, status }) => [
    recipientEmail,
    subject,
    template ?? body,
    status,
  ],
};

/** The same for the same changes to the same versions of the same records. */
export function computeChangeDigest(changes: readonly Change[]): string {
  const essence = changes.map(({ table, id, before, after }) =>
    before ? [table, id, before["version"]] : [table, ...(identity[table]?.(after ?? {}) ?? [])],
  );
  return hashSha256Hex(JSON.stringify(essence));
}

/** Returns links for a rehearsal: an invitation that is undone again has none that works. */
export function createDryRunLinks(links: Links): Links {
  return {
    file: (...record) => links.file(...record),
    export: (...record) => links.export(...record),
    invitation: async () => "(a link for them alone)",
  };
}

interface Labelled {
  readonly table: TableName;
  readonly id: string;
  readonly scope: Scope;
  readonly labelOf: (row: Values) => string;
}

const nameOf = (row: Values) => String(row["name"]);
const formatFullName = (row: Values) => [row["firstName"], row["lastName"]].filter(Boolean).join(" ");
const round: Labelled = { table: "rounds", id: "roundId", scope: "rounds:read", labelOf: nameOf };

const labelled: Readonly<Record<string, Labelled>> = {
  programId: { table: "programs", id: "programId", scope: "programs:read", labelOf: nameOf },
  roundId: round,
  currentRoundId: round,
  roundIds: round,
  submissionId: {
    table: "submissions",
    id: "submissionId",
    scope: "submissions:read",
    labelOf: (row) => String(row["title"] ?? ""),
  },
  reviewerId: { table: "reviewers", id: "reviewerId", scope: "reviewers:read", labelOf: formatFullName },
};

/** Where the names of those who are written to are found by their addresses. */
const recipients = [
  { kind: "reviewer", table: "reviewers", scope: "reviewers:read", labelOf: formatFullName },
  { kind: "applicant", table: "applicants", scope: "applicants:read", labelOf: nameOf },
] as const;

/** More names than a question can show. */
const maxLabels = 500;

/** Returns the names of the records that changed rows refer to, where the caller may read such records. */
export async function loadLabels(
  store: Reader,
  scopes: ReadonlySet<Scope>,
  changes: readonly Change[],
): Promise<Map<string, string>> {
  const labels = new Map<string, string>();
  for (const [column, { table, id, scope, labelOf }] of Object.entries(labelled)) {
    if (!scopes.has(scope)) continue;
    const ids = listTexts(changes.flatMap(({ before, after }) => [before?.[column], after?.[column]].flat()));
    if (ids.length === 0) continue;
    for (const row of await store.find(table, { where: { [id]: ids } }, { limit: maxLabels })) {
      labels.set(String((row as Values)[id]), labelOf(row));
    }
  }
  for (const { kind, table, scope, labelOf } of recipients) {
    const mails = changes.filter((change) => change.table === "emailSends" && change.after?.["recipientKind"] === kind);
    const addresses = listTexts(mails.map(({ after }) => after?.["recipientEmail"]));
    if (!scopes.has(scope) || addresses.length === 0) continue;
    const rows = await store.find(table, { has: { email: addresses.map(normalizeEmail) } }, { limit: maxLabels });
    for (const row of rows) labels.set(row.email, labelOf(row));
  }
  return labels;
}

function listTexts(values: readonly unknown[]): string[] {
  return [...new Set(values.filter((value) => typeof value === "string"))].slice(0, maxLabels);
}
