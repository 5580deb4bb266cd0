import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { ConnectedApp, type ConnectedAppChange } from "../../contract/access/connected-apps.ts";
import { ProductToken, type ProductTokenChange } from "../../contract/access/product-tokens.ts";
import { User, type UserChange } from "../../contract/access/roles.ts";
import { Token, type TokenChange } from "../../contract/access/tokens.ts";
import type { AuditEntry } from "../../contract/audit.ts";
import { getAnnotation, hasPersonalData } from "../../contract/definition/field-annotations.ts";
import type { Operation } from "../../contract/definition/operation.ts";
import type { EntityType } from "../../contract/definition/record-kinds.ts";
import { type AnySchema, type Fields, getSchemaType } from "../../contract/definition/schema-visitor.ts";
import { createId } from "../../lib/ids.ts";
import { isObject, toTextOrNull } from "../../lib/json-value.ts";
import type { Caller } from "../../store/handler-context.ts";
import type { Change } from "../../store/port.ts";
import { tables } from "../../store/tables.ts";

/** The facts of a call that its audit entries record. */
export interface AuditedCall {
  readonly caller: Caller;
  readonly operation: Pick<Operation, "audit" | "params">;
  readonly requestId: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly now: Date;
}

/** Replaces the operation of a request that was refused before its operation was known. */
export const unreadOperation: AuditedCall["operation"] = { audit: "request.refused", params: z.strictObject({}) };

/** The values that the audit entries of one change have in common. */
export interface AuditContext
  extends Pick<AuditEntry, "businessId" | "actorType" | "actorId" | "tokenId" | "requestId"> {
  /** The entity type, a dot and a verb in the past tense. */
  readonly action: string;
  readonly reason: string | null;
  /** The account of the person who approved the change. */
  readonly approvedBy?: string | undefined;
  readonly now: Date;
  /** Default: `createId`. */
  readonly newId?: ((prefix: string) => string) | undefined;
}

/** Returns the audit context of a call. */
export function toAuditContext({ caller, operation, requestId, input, now }: AuditedCall): AuditContext {
  const { businessId, tokenId, userId } = caller;
  const reason = typeof input["reason"] === "string" ? input["reason"] : null;
  const actor =
    userId === undefined
      ? ({ actorType: "token", actorId: tokenId, tokenId } as const)
      : ({ actorType: "user", actorId: userId, tokenId: tokenId === userId ? null : tokenId } as const);
  return { businessId, ...actor, requestId, action: operation.audit, reason, now };
}

/** Columns that change with every write. */
const bookkeeping = new Set(["businessId", "version", "createdAt", "updatedAt", "createdBy", "updatedBy"]);

/** Returns an entry for each changed record. The context's action names changes of its own entity type. */
export function createAuditEntries(context: AuditContext, changes: readonly Change[]): AuditEntry[] {
  return combineChanges(changes).map((change) => {
    const { entity, id } = tables[change.table];
    const row = change.after ?? change.before ?? {};
    const isOwn = context.action.startsWith(`${entity}.`);
    return {
      ...createEntryBase(context),
      action: isOwn ? context.action : `${entity}.${getAuditVerb(change)}`,
      entityType: entity,
      entityId: String(row[id]),
      programId: toTextOrNull(row["programId"]),
      submissionId: toTextOrNull(row["submissionId"]),
      status: null,
      changes: listDifferencesIn(tables[change.table].record.shape, change.before, change.after),
      reason: context.reason,
    };
  });
}

/** Returns the entry of a change to an access token, which is not a record of the interface. */
export function createTokenEntry(context: AuditContext, change: TokenChange): AuditEntry {
  return createAccountEntry(
    context,
    "token",
    change.after.tokenId,
    listDifferencesIn(Token.shape, change.before, change.after),
  );
}

/** Returns the entry of a change to a person who signs in. */
export function createUserEntry(context: AuditContext, { before, after }: UserChange): AuditEntry {
  return createAccountEntry(context, "user", (after ?? before)?.userId, listDifferencesIn(User.shape, before, after));
}

/** Returns the entry of a change to an app that a person has connected. */
export function createAppEntry(context: AuditContext, { before, after }: ConnectedAppChange): AuditEntry {
  const changes = listDifferencesIn(ConnectedApp.shape, before, after);
  return createAccountEntry(context, "app", (after ?? before)?.connectionId, changes);
}

/** Returns the entry of a change to the product token of a person or an organisation. */
export function createProductTokenEntry(context: AuditContext, { before, after }: ProductTokenChange): AuditEntry {
  const changes = listDifferencesIn(ProductToken.shape, before, after);
  return createAccountEntry(context, "product_token", (after ?? before)?.holderId, changes);
}

/** Returns the entry of a change to what is not a record of the interface. */
function createAccountEntry(
  context: AuditContext,
  entityType: EntityType,
  entityId: string | undefined,
  changes: AuditEntry["changes"],
): AuditEntry {
  const { action, reason } = context;
  const none = { programId: null, submissionId: null, status: null };
  return { ...createEntryBase(context), action, entityType, entityId: entityId ?? null, ...none, changes, reason };
}

/**
 * Returns the entry of a call that changed nothing: a read, a refusal, or a repeated request (`replayed`). It has no
 * content, only caller, action and status.
 */
export function createAccessEntry(audited: AuditedCall, status: number, replayed = false): AuditEntry {
  const { operation, input } = audited;
  const lastVariable = Object.keys(operation.params.shape).at(-1);
  return {
    ...createEntryBase(toAuditContext(audited)),
    action: operation.audit,
    entityType: operation.audit.split(".")[0] as string,
    entityId: lastVariable === undefined ? null : toIdOrNull(input[lastVariable]),
    programId: toIdOrNull(input["programId"]),
    submissionId: toIdOrNull(input["submissionId"]),
    status,
    ...(replayed ? { replayed } : {}),
    changes: [],
    reason: null,
  };
}

function createEntryBase(context: AuditContext) {
  const { businessId, actorType, actorId, tokenId, requestId, approvedBy, now, newId = createId } = context;
  return {
    auditId: newId("aud"),
    businessId,
    actorType,
    actorId,
    tokenId,
    ...(approvedBy === undefined ? {} : { approvedBy }),
    requestId,
    occurredAt: now.toISOString(),
  };
}

/** Combines several writes to one row into one change: from before the first to after the last. */
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

/** Lists the changed paths of a record. Personal paths are listed without their values. */
function listDifferencesIn(
  shape: Fields,
  before: Readonly<Record<string, unknown>> = {},
  after: Readonly<Record<string, unknown>> = {},
): AuditEntry["changes"] {
  return Object.entries(shape).flatMap(([path, schema]) => {
    const [from, to] = [before[path] ?? null, after[path] ?? null];
    if (bookkeeping.has(path) || isDeepStrictEqual(from, to)) return [];
    if (!hasPersonalData(schema)) return [{ path, from, to }];
    return hasCallerChosenKeys(schema) ? [{ path }] : listChangedNames(path, from, to);
  });
}

/** Returns whether callers choose the keys of a sensitive map: the keys may then reveal as much as the values. */
function hasCallerChosenKeys(schema: AnySchema): boolean {
  const annotation = getAnnotation(schema);
  return annotation?.sensitive !== undefined && annotation.byField === undefined && getSchemaType(schema) === "record";
}

/** Lists the names of changed properties within personal data, never their values. */
function listChangedNames(path: string, from: unknown, to: unknown): AuditEntry["changes"] {
  if (!isObject(from ?? {}) || !isObject(to ?? {})) return [{ path }];
  const [before, after] = [(from ?? {}) as Record<string, unknown>, (to ?? {}) as Record<string, unknown>];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((key) => !isDeepStrictEqual(before[key], after[key]))
    .map((key) => ({ path: `${path}.${key}` }));
}

/**
 * Returns what a caller gave as an id, if it can be one. Models also pass an address or a name, which an entry must not
 * keep.
 */
function toIdOrNull(given: unknown): string | null {
  return typeof given === "string" && /^[\w-]{1,255}$/.test(given) ? given : null;
}
