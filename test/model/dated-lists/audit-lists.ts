import {
  type CallContext,
  type Expected,
  type ListFilter,
  type ModelAuditEntry,
  type ModelChange,
  type ModelExchange,
  type ModelTenant,
  ok,
  Refusal,
} from "../tenant.ts";
import { findCursor } from "./cursors.ts";
import { addCursor, isDatedWithin, predictPage } from "./dated-pages.ts";

/** The part of the reference model that lists audit entries (specification 4.5). */

/** A row as an answer shows it. */
type AnsweredEntry = Readonly<Record<string, unknown>> & {
  readonly auditId: string;
  readonly entityId: string | null;
  readonly action: string;
  readonly occurredAt: string;
  readonly changes: readonly ModelChange[];
};

export const auditListHandlers = {
  list_audit_entries(tenant: ModelTenant, input: ListFilter, answered: unknown, context: CallContext): Expected {
    const { limit, lastEvaluatedKey, ...filter } = input;
    const name = "list_audit_entries";
    const from = lastEvaluatedKey === undefined ? undefined : findCursor(tenant, lastEvaluatedKey, name, filter);
    for (const row of Array.isArray(answered) ? answered : []) bindEntry(tenant, row, context.exchange);
    const entries = tenant.auditEntries.filter((each) => isListed(each, filter));
    const next = context.meta?.lastEvaluatedKey;
    const hasBackgroundRows = filter["action"] === undefined || Object.hasOwn(backgroundChanges, filter["action"]);
    const { rows, missing, hasMore } = predictPage(entries, { limit, from, next, hasUnknownRows: hasBackgroundRows });
    if (next !== undefined) addCursor(tenant, { name, filter, cursor: next }, { rows, entries, from });
    return { status: 200, data: [...missing, ...rows].map(showEntry), meta: { hasMore } };
  },
} as const;

export const auditHandlers = {
  get_audit_entry({ auditEntries }: ModelTenant, { auditId }: ListFilter): Expected {
    const entry = auditEntries.find(({ id }) => id === auditId);
    if (!entry) throw new Refusal(404, "not_found");
    return ok(showEntry(entry));
  },
} as const;

/** Without an action, only changes are listed. */
function isListed({ shown }: ModelAuditEntry, { action, ...others }: ListFilter): boolean {
  if (action === undefined ? shown["status"] !== null : shown["action"] !== action) return false;
  return Object.entries(others).every(([name, value]) => shown[name] === value);
}

function showEntry({ id: auditId, at: occurredAt, entityId, shown, changes }: ModelAuditEntry) {
  return { auditId, occurredAt, entityId, ...shown, changes };
}

/** Finds the entry that a row shows, and notes the row's id and time, which stay. */
function bindEntry(tenant: ModelTenant, row: AnsweredEntry, exchange: ModelExchange): void {
  if (tenant.auditEntries.some(({ id }) => id === row.auditId)) return;
  const entry =
    tenant.auditEntries.find((each) => each.id === undefined && isShownBy(each, row)) ??
    addBackgroundEntry(tenant, row, exchange);
  const { auditId: id, occurredAt: at, entityId, changes } = row;
  if (entry) Object.assign(entry, { id, at, entityId, changes });
}

function isShownBy(entry: ModelAuditEntry, row: AnsweredEntry): boolean {
  const { entityId, shown } = entry;
  if (!isDatedWithin(entry, row.occurredAt)) return false;
  const hasId = entityId === undefined ? /^(eml|inv)_/.test(String(row.entityId)) : row.entityId === entityId;
  return hasId && hasSameProperties(shown, row) && areChangesShownBy(entry, row);
}

const ofEachEntry = ["auditId", "entityId", "occurredAt", "changes"];

function hasSameProperties(shown: ModelAuditEntry["shown"], row: AnsweredEntry): boolean {
  const names = new Set([...Object.keys(shown), ...Object.keys(row)].filter((name) => !ofEachEntry.includes(name)));
  return [...names].every((name) => row[name] === shown[name]);
}

/** Paths of personal data, whose values no entry has. */
const personalPaths: ReadonlySet<string> = new Set([
  ...["title", "fields", "innovatorEmail", "innovatorName", "stateReason", "reason"],
  ...["primaryEmail", "contactDetails", "platformUserId", "customFields", "externalRefs", "metadata"],
  ...["email", "name", "firstName", "lastName", "affiliation", "recipientEmail", "subject", "body"],
]);

/** Compares the paths that the model knows. Paths that it does not know have no personal values either. */
function areChangesShownBy({ shown, knownPaths, changes }: ModelAuditEntry, row: AnsweredEntry): boolean {
  if (shown["status"] !== null) return row.changes.length === 0;
  const isPersonal = ({ path }: ModelChange) => personalPaths.has(path.split(".")[0] ?? "");
  if (row.changes.some((each) => isPersonal(each) && Object.keys(each).length > 1)) return false;
  return toSortedTexts(row.changes.filter(({ path }) => knownPaths.includes(path))) === toSortedTexts(changes);
}

function toSortedTexts(changes: readonly ModelChange[]): string {
  return JSON.stringify(changes.map((each) => JSON.stringify([each.path, each.from, each.to])).sort());
}

/** Changes that background work makes at any time: the worker, the type of record and its status before and after. */
const backgroundChanges: Readonly<Record<string, readonly [string, string, string, string]>> = {
  "export.completed": ["exports", "export", "pending", "completed"],
  "email_send.sent": ["mail", "email_send", "queued", "sent"],
};

/** Adds an entry of background work, if it can have changed this record now. */
function addBackgroundEntry(tenant: ModelTenant, row: AnsweredEntry, exchange: ModelExchange) {
  const { action, entityId } = row;
  const change = backgroundChanges[action];
  if (!change) return undefined;
  const { businessId, programId } = tenant.fixed;
  const [actorId, entityType, from, to] = change;
  const isKnown =
    entityType === "export"
      ? tenant.exports.some(({ exportId }) => exportId === entityId)
      : /^eml_/.test(String(entityId)) && tenant.emailSends.some(({ status }) => status === "queued");
  const isRepeated = tenant.auditEntries.some((each) => each.shown["action"] === action && each.entityId === entityId);
  const caller = { businessId, actorType: "system", actorId, tokenId: null, requestId: row["requestId"] };
  const entry: ModelAuditEntry = {
    key: row.auditId,
    sentAt: 0,
    answeredAt: exchange.answeredAt,
    isCertain: false,
    recordId: "",
    entityId,
    shown: {
      ...caller,
      action,
      entityType,
      programId: entityType === "export" ? programId : (row["programId"] as string | null),
      submissionId: null,
      status: null,
      reason: null,
    },
    knownPaths: ["status"],
    changes: [{ path: "status", from, to }],
  };
  if (!isKnown || isRepeated || !isShownBy(entry, row)) return undefined;
  tenant.auditEntries.push(entry);
  return entry;
}
