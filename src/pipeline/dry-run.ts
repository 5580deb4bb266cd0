import type { Scope } from "../contract/access/scopes.ts";
import type { Links } from "../store/handler-context.ts";
import type { Change, PipelineTransaction, Reader } from "../store/port.ts";
import { normalizeEmail, type TableName } from "../store/tables.ts";
import { computeChangeDigest } from "./audit/change-digest.ts";
import { type PipelineDeps, type PreparedCall, toActor } from "./call.ts";
import { runRolledBack } from "./rollback.ts";
import { findStoredAnswer } from "./steps/idempotency.ts";
import { runWriteHandler } from "./steps/run-handler.ts";

export type { ConsumedNonce } from "../store/port.ts";

/** The changes that an operation would make, taken from a transaction that was rolled back. */
export interface DryRunResult {
  readonly ok: true;
  readonly changes: readonly Change[];
  /** The handler's result. */
  readonly data: unknown;
  /** Names of the records in the changes, by id, as far as the caller may read them. */
  readonly labels: ReadonlyMap<string, string>;
  /** Equal as long as the operation would make the same changes. */
  readonly digest: string;
  /** Present if the plan is only made when the operation runs: what the plan starts from. */
  readonly planningContext?: PlanningContext;
}

/** The readable state of a round before its assignments are planned. */
export interface PlanningContext {
  readonly submissions: number;
  /** Undefined if the required number of reviews cannot be read. */
  readonly reviewsMissing: number | undefined;
  /** The reviewers who may be assigned, with their number of assignments in the round. */
  readonly reviewers: readonly { readonly reviewerId: string; readonly load: number }[];
  /** True if the lists are complete. */
  readonly complete: boolean;
}

/**
 * Runs a call that writes in a transaction that is rolled back. A repetition under an idempotency key would change
 * nothing, because it gets the stored result.
 */
export function runDry(deps: PipelineDeps, prepared: PreparedCall): Promise<DryRunResult> {
  const dryDeps = { ...deps, links: createDryRunLinks(deps.links) };
  return runRolledBack(
    (work) => deps.store.transaction(toActor(prepared), work),
    async (transaction: PipelineTransaction): Promise<DryRunResult> => {
      if (await isRepetition(transaction, prepared)) return noChange;
      const data = await runWriteHandler(dryDeps, prepared, transaction);
      const changes = [...transaction.changes];
      const labels = await loadLabels(transaction, prepared.caller.scopes, changes);
      return { ok: true, changes, data, labels, digest: computeChangeDigest(changes) };
    },
  );
}

const noChange = {
  ok: true,
  changes: [],
  data: undefined,
  labels: new Map(),
  digest: computeChangeDigest([]),
} as const;

async function isRepetition(transaction: PipelineTransaction, prepared: PreparedCall): Promise<boolean> {
  const { idempotencyKey } = prepared.call;
  return idempotencyKey !== undefined && (await findStoredAnswer(transaction, prepared, idempotencyKey)) !== undefined;
}

/** Replaces the secret link of an invitation, because the invitation is rolled back. */
function createDryRunLinks(links: Links): Links {
  return {
    file: (...record) => links.file(...record),
    export: (...record) => links.export(...record),
    invitation: async () => "(a link for them alone)",
  };
}

type Values = Readonly<Record<string, unknown>>;

interface LabelSource {
  readonly table: TableName;
  readonly id: string;
  readonly scope: Scope;
  readonly getLabel: (row: Values) => string;
}

const getName = (row: Values) => String(row["name"]);
const formatFullName = (row: Values) => [row["firstName"], row["lastName"]].filter(Boolean).join(" ");
const round: LabelSource = { table: "rounds", id: "roundId", scope: "rounds:read", getLabel: getName };

const labelSources: Readonly<Record<string, LabelSource>> = {
  programId: { table: "programs", id: "programId", scope: "programs:read", getLabel: getName },
  roundId: round,
  currentRoundId: round,
  roundIds: round,
  submissionId: {
    table: "submissions",
    id: "submissionId",
    scope: "submissions:read",
    getLabel: (row) => String(row["title"] ?? ""),
  },
  reviewerId: { table: "reviewers", id: "reviewerId", scope: "reviewers:read", getLabel: formatFullName },
};

/** Tables that name the recipients of mail by their addresses. */
const recipients = [
  { kind: "reviewer", table: "reviewers", scope: "reviewers:read", getLabel: formatFullName },
  { kind: "applicant", table: "applicants", scope: "applicants:read", getLabel: getName },
] as const;

/** More names than a confirmation question can show. */
const maxLabels = 500;

/** Loads the names of the records that changes refer to, as far as the caller may read them. */
async function loadLabels(
  store: Reader,
  scopes: ReadonlySet<Scope>,
  changes: readonly Change[],
): Promise<Map<string, string>> {
  const labels = new Map<string, string>();
  for (const [column, { table, id, scope, getLabel }] of Object.entries(labelSources)) {
    if (!scopes.has(scope)) continue;
    const ids = listTexts(changes.flatMap(({ before, after }) => [before?.[column], after?.[column]].flat()));
    if (ids.length === 0) continue;
    for (const row of await store.find(table, { where: { [id]: ids } }, { limit: maxLabels })) {
      labels.set(String((row as Values)[id]), getLabel(row));
    }
  }
  for (const { kind, table, scope, getLabel } of recipients) {
    const mails = changes.filter((change) => change.table === "emailSends" && change.after?.["recipientKind"] === kind);
    const addresses = listTexts(mails.map(({ after }) => after?.["recipientEmail"]));
    if (!scopes.has(scope) || addresses.length === 0) continue;
    const rows = await store.find(table, { has: { email: addresses.map(normalizeEmail) } }, { limit: maxLabels });
    for (const row of rows) labels.set(row.email, getLabel(row));
  }
  return labels;
}

function listTexts(values: readonly unknown[]): string[] {
  return [...new Set(values.filter((value) => typeof value === "string"))].slice(0, maxLabels);
}
