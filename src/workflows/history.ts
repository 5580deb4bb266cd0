import type { AuditEntry } from "../contract/audit.ts";
import type { RecordSource, WorkflowRunner } from "../upstream/port.ts";
import { loadReviewerNames } from "./reviewer-names.ts";

/** Most entries that one call looks at. */
const maxReadEntries = 100_000;

const entryFields = [
  "auditId",
  "occurredAt",
  "action",
  "entityType",
  "entityId",
  "submissionId",
  "programId",
  "actorType",
  "actorId",
  "actorName",
  "approverName",
  "changes",
  "reason",
] as const;
type Entry = Pick<AuditEntry, (typeof entryFields)[number]>;

export const get_history: WorkflowRunner<"get_history"> = async (source, input) => {
  const { entries, olderAt } = await collectEntries(source, input);
  const reviewerNames = await loadActorNames(source, entries);
  return {
    changes: entries.map(({ programId: _, changes, actorName, approverName, ...entry }) => ({
      ...entry,
      ...(approverName ? { approverName } : {}),
      actorName: actorName ?? reviewerNames.get(entry.actorId) ?? null,
      fields: changes,
    })),
    olderAt,
  };
};

/** Reads entries, newest first, until enough are found or none of the wanted time can follow. */
async function collectEntries(
  source: RecordSource,
  input: Parameters<WorkflowRunner<"get_history">>[1],
): Promise<{ readonly entries: readonly Entry[]; readonly olderAt: string | null }> {
  const { programId, submissionId, recordId, from, to, limit } = input;
  const fromMs = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
  const toMs = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to);
  const entries: Entry[] = [];
  let read = 0;
  const narrowing = { entityId: recordId, from: toIsoTime(fromMs), to: toIsoTime(toMs) };
  for await (const batch of source.list("list_audit_entries", { programId, submissionId }, entryFields, narrowing)) {
    for (const entry of batch) {
      const atMs = Date.parse(entry.occurredAt);
      if (atMs < fromMs || atMs > toMs || (recordId !== undefined && entry.entityId !== recordId)) continue;
      if (entries.length === limit) return { entries, olderAt: entry.occurredAt };
      entries.push(entry);
    }
    read += batch.length;
    const [first, last] = [batch[0]?.occurredAt, batch.at(-1)?.occurredAt];
    if (first === undefined || last === undefined) continue;
    // Another service may list in another order: only a batch from new to old says what follows it.
    if (Date.parse(last) < fromMs && Date.parse(last) < Date.parse(first)) break;
    if (read >= maxReadEntries) return { entries, olderAt: last };
  }
  return { entries, olderAt: null };
}

function toIsoTime(timeMs: number): string | undefined {
  return Number.isFinite(timeMs) ? new Date(timeMs).toISOString() : undefined;
}

/** Returns the names of reviewers whom the entries do not name, as those of another service. */
async function loadActorNames(source: RecordSource, entries: readonly Entry[]): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const byProgram = Map.groupBy(
    entries.filter(({ actorType, actorName }) => actorType === "reviewer" && !actorName),
    ({ programId }) => programId,
  );
  for (const [programId, own] of byProgram) {
    if (programId === null) continue;
    const found = await loadReviewerNames(source, programId, new Set(own.map(({ actorId }) => actorId)));
    for (const [reviewerId, name] of found) names.set(reviewerId, name);
  }
  return names;
}
