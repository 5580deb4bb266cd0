import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { AuditEntry } from "../contract/audit.ts";
import { getAnnotation, unwrap } from "../contract/definition/field-annotations.ts";
import type { Operation } from "../contract/definition/operation.ts";
import { Token, type TokenChange } from "../contract/tokens.ts";
import { createId } from "../lib/ids.ts";
import { isObject } from "../lib/is-object.ts";
import type { Caller } from "../store/handler-context.ts";
import type { Change } from "../store/port.ts";
import { tables } from "../store/tables.ts";

/** The call that an entry is about. */
export interface AuditedCall {
  readonly caller: Caller;
  readonly operation: Pick<Operation, "audit" | "params">;
  readonly requestId: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly now: Date;
}

/** Stands for the operation of a request that was refused before it was known what it asks for. */
export const unreadOperation: AuditedCall["operation"] = { audit: "request.refused", params: z.strictObject({}) };

/** What somebody did, as the audit trail tells it. */
export interface AuditContext
  extends Pick<AuditEntry, "businessId" | "actorType" | "actorId" | "tokenId" | "requestId"> {
  /** Entity type, dot, what happened. */
  readonly action: string;
  readonly reason: string | null;
  readonly now: Date;
}

/** A call by token as an act. */
export function toAuditContext({ caller, operation, requestId, input, now }: AuditedCall): AuditContext {
  const { businessId, tokenId } = caller;
  const reason = typeof input["reason"] === "string" ? input["reason"] : null;
  return { businessId, actorType: "token", actorId: tokenId, tokenId, requestId, action: operation.audit, reason, now };
}

/** Bookkeeping that changes with every write and says nothing. */
const bookkeeping = new Set(["businessId", "version", "createdAt", "updatedAt", "createdBy", "updatedBy"]);

/** One entry per record that an act changed; the act's own word for its own kind of record. */
export function createAuditEntries(act: AuditContext, changes: readonly Change[]): AuditEntry[] {
  return combineChanges(changes).map((change) => {
    const { entity, id } = tables[change.table];
    const row = change.after ?? change.before ?? {};
    const own = act.action.startsWith(`${entity}.`);
    return {
      ...createEntryBase(act),
      action: own ? act.action : `${entity}.${getAuditVerb(change)}`,
      entityType: entity,
      entityId: String(row[id]),
      programId: toTextOrNull(row["programId"]),
      submissionId: toTextOrNull(row["submissionId"]),
      status: null,
      changes: listDifferencesIn(tables[change.table].record.shape, change.before, change.after),
      reason: act.reason,
    };
  });
}

/** The entry of a change to an access token, which is no record of the interface. */
export function createTokenEntry(act: AuditContext, { before, after }: TokenChange): AuditEntry {
  return {
    ...createEntryBase(act),
    action: act.action,
    entityType: "token",
    entityId: after.tokenId,
    programId: null,
    submissionId: null,
    status: null,
    changes: listDifferencesIn(Token.shape, before, after),
    reason: act.reason,
  };
}

/** The entry of a call that changed nothing: a read, or a refusal. No content, only who, what and how it ended. */
export function createAccessEntry(audited: AuditedCall, status: number): AuditEntry {
  const { operation, input } = audited;
  const lastVariable = Object.keys(operation.params.shape).at(-1);
  return {
    ...createEntryBase(toAuditContext(audited)),
    action: operation.audit,
    entityType: operation.audit.split(".")[0] as string,
    entityId: lastVariable === undefined ? null : toTextOrNull(input[lastVariable]),
    programId: toTextOrNull(input["programId"]),
    submissionId: toTextOrNull(input["submissionId"]),
    status,
    changes: [],
    reason: null,
  };
}

function createEntryBase({ businessId, actorType, actorId, tokenId, requestId, now }: AuditContext) {
  return {
    auditId: createId("aud"),
    businessId,
    actorType,
    actorId,
    tokenId,
    requestId,
    occurredAt: now.toISOString(),
  };
}

/** Several writes to one row in a call are one change: from before the first to after the last. */
function combineChanges(changes: readonly Change[]): Change[] {
  const byRow = new Map<string, Change>();
  for (const change of changes) {
    const key = `${change.table} ${change.id}`;
    const first = byRow.get(key);
    byRow.set(key, first ? { ...change, ...(first.before ? { before: first.before } : {}) } : change);
  }
  return [...byRow.values()];
}

function getAuditVerb({ before, after }: Change): string {
  if (!before) return "created";
  return after ? "updated" : "removed";
}

/** What a change made of a record: personal paths are named without their values. */
function listDifferencesIn(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  before: Readonly<Record<string, unknown>> = {},
  after: Readonly<Record<string, unknown>> = {},
): AuditEntry["changes"] {
  return Object.entries(shape).flatMap(([path, schema]) => {
    const [from, to] = [before[path] ?? null, after[path] ?? null];
    if (bookkeeping.has(path) || isDeepStrictEqual(from, to)) return [];
    if (!hasPersonalData(schema)) return [{ path, from, to }];
    return hasSecretKeys(schema) ? [{ path }] : listChangedNames(path, from, to);
  });
}

/** Whether a caller chose the keys of a sensitive map: they may say as much as its values. */
function hasSecretKeys(schema: z.core.$ZodType): boolean {
  const mark = getAnnotation(schema);
  return mark?.sensitive !== undefined && mark.byField === undefined && unwrap(schema)._zod.def.type === "record";
}

/** Names of what changed within personal data, never its values. */
function listChangedNames(path: string, from: unknown, to: unknown): AuditEntry["changes"] {
  if (!isObject(from ?? {}) || !isObject(to ?? {})) return [{ path }];
  const [before, after] = [(from ?? {}) as Record<string, unknown>, (to ?? {}) as Record<string, unknown>];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((key) => !isDeepStrictEqual(before[key], after[key]))
    .map((key) => ({ path: `${path}.${key}` }));
}

const personalSchemas = new WeakMap<z.core.$ZodType, boolean>();

/** Whether a schema is marked personal or has anything personal inside. */
function hasPersonalData(schema: z.core.$ZodType): boolean {
  let holds = personalSchemas.get(schema);
  if (holds === undefined) {
    const definition = unwrap(schema)._zod.def as {
      shape?: Record<string, z.core.$ZodType>;
      element?: z.core.$ZodType;
    };
    const inside = [...Object.values(definition.shape ?? {}), ...(definition.element ? [definition.element] : [])];
    holds = getAnnotation(schema)?.personal === true || inside.some(hasPersonalData);
    personalSchemas.set(schema, holds);
  }
  return holds;
}

function toTextOrNull(value: unknown): string | null {
  // Of a request that was refused nothing need be fit to be kept.
  return typeof value === "string" ? value.slice(0, 255).replaceAll("\0", "").toWellFormed() : null;
}
