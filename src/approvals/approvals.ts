import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Approval } from "../contract/access/approvals.ts";
import { getUserScopes, type Role, type User } from "../contract/access/roles.ts";
import { problem } from "../contract/errors.ts";
import type { Clock } from "../lib/clock.ts";
import { createId } from "../lib/ids.ts";
import { withAudit } from "../pipeline/audit/with-audit.ts";
import type { Store } from "../store/port.ts";

/** The time that a person has to decide, and the agent to make an approved call. */
const approvalTtlMs = 24 * 60 * 60_000;
/** The time for which approvals are kept with their previews. */
export const approvalKeptDays = 30;
/** Most approvals of one caller that may wait at a time. */
const maxPendingOfCaller = 100;
/** Most calls of one process that may wait for a decision at a time. */
const maxWaiting = 200;
const firstIntervalMs = 250;
const maxIntervalMs = 2_000;

/** The path of the pages on which people decide. */
export const approvalsPath = "/approvals";

/** The roles of people who may approve. */
export const approverRoles: readonly Role[] = ["owner", "staff"];

/** Returns whether a person may decide on an approval. */
export function mayDecide(user: User, { scopes }: Approval): boolean {
  return approverRoles.includes(user.role) && new Set(scopes).isSubsetOf(getUserScopes(user));
}

/** A call that an agent asks a person to approve. */
export type ApprovalRequest = Pick<
  Approval,
  | "tool"
  | "caller"
  | "tokenId"
  | "clientName"
  | "callDigest"
  | "question"
  | "calls"
  | "longTexts"
  | "scopes"
  | "choices"
>;

/** The account of a signed-in person who may approve. */
export interface Approver {
  readonly userId: string;
  readonly name: string;
}

/** A person's decision. `except` and `showsHidden` count only for an approval that offers the choice. */
export interface Decision {
  readonly approves: boolean;
  readonly reason?: string | undefined;
  readonly except?: readonly number[] | undefined;
  readonly showsHidden?: boolean | undefined;
}

/** Confirmations of one organisation's callers that wait for a signed-in person. */
export interface Approvals {
  getStatus(approval: Approval): ApprovalStatus;
  /** Returns the organisation whose people approve the calls of a realm. */
  findTenant(realm: string): Promise<string>;
  /** Returns whether anybody has an account that may approve. */
  hasApprovers(businessId: string): Promise<boolean>;
  /**
   * Stores a request. The same call of the same caller, with the same preview, waits only once.
   * @throws Problem `rate_limited` if too many of the caller's requests wait
   */
  request(businessId: string, request: ApprovalRequest): Promise<Approval>;
  find(businessId: string, approvalId: string): Promise<Approval | undefined>;
  /** Lists the approvals that wait, newest first. */
  listPending(businessId: string, limit: number): Promise<Approval[]>;
  /**
   * Stores a person's decision. It is final.
   * @throws Problem `not_found`; `confirmation_invalid` if it has expired or was decided
   */
  decide(businessId: string, approvalId: string, decision: Decision, person: Approver): Promise<Approval>;
  /** Waits until an approval is decided or expires, the time is over or the signal aborts. Returns its last state. */
  waitForDecision(businessId: string, approvalId: string, wait: DecisionWait): Promise<Approval | undefined>;
}

/** `expired` if nobody decided in time. */
export type ApprovalStatus = Approval["status"] | "expired";

export interface DecisionWait {
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Called after each look at an approval that still waits. */
  readonly onWaiting?: ((waitedMs: number) => Promise<void>) | undefined;
}

export interface ApprovalDeps {
  readonly store: Pick<Store, "reader" | "transaction" | "deleteOldRows" | "users">;
  readonly clock: Clock;
  readonly findTenant: (realm: string) => Promise<string>;
}

export function createApprovals(deps: ApprovalDeps): Approvals {
  const { store, clock, findTenant } = deps;
  const find = async (businessId: string, approvalId: string) => store.reader(businessId).get("approvals", approvalId);
  return {
    getStatus: (approval) =>
      approval.status === "pending" && isExpired(approval, clock.now()) ? "expired" : approval.status,
    findTenant,
    hasApprovers: (businessId) => store.users.hasActive(businessId, approverRoles),
    request: (businessId, request) => storeRequest(deps, businessId, request),
    find,
    listPending: (businessId, limit) => {
      const order = { limit, orderBy: "createdAt", descending: true } as const;
      return store.reader(businessId).find("approvals", { where: createPendingFilter(clock) }, order);
    },
    decide: (businessId, approvalId, decision, person) => storeDecision(deps, businessId, approvalId, decision, person),
    waitForDecision: createDecisionWaiter(clock, find),
  };
}

function createPendingFilter(clock: Clock) {
  return { status: "pending", expiresAt: { gt: clock.now().toISOString() } } as const;
}

async function storeRequest(
  { store, clock }: ApprovalDeps,
  businessId: string,
  request: ApprovalRequest,
): Promise<Approval> {
  const now = clock.now();
  const oldest = new Date(now.getTime() - approvalKeptDays * 86_400_000);
  // With a remote service, no worker deletes old rows.
  await store.deleteOldRows(businessId, "approvals", oldest.toISOString(), maxPendingOfCaller);
  const { caller, tokenId, callDigest, question, longTexts } = request;
  const change = {
    businessId,
    actorType: "token",
    actorId: tokenId ?? caller,
    action: "approval.requested",
    now,
  } as const;
  return withAudit(store, change, async (transaction) => {
    const pending = { ...createPendingFilter(clock), caller };
    const same = await transaction.find("approvals", { where: { ...pending, callDigest } }, { limit: 10 });
    const repeated = same.find(
      (approval) => approval.question === question && isDeepStrictEqual(approval.longTexts ?? [], longTexts),
    );
    if (repeated) return repeated;
    if ((await transaction.count("approvals", { where: pending })) >= maxPendingOfCaller)
      throw problem("rate_limited", { retryAfterSeconds: 600 });
    return transaction.insert("approvals", {
      ...request,
      approvalId: createId("apr"),
      status: "pending",
      expiresAt: new Date(now.getTime() + approvalTtlMs).toISOString(),
      decidedAt: null,
      decidedBy: null,
      decidedByName: null,
      reason: null,
      except: [],
      showsHidden: false,
    });
  });
}

function storeDecision(
  { store, clock }: ApprovalDeps,
  businessId: string,
  approvalId: string,
  { approves, reason, except = [], showsHidden = false }: Decision,
  { userId, name }: Approver,
): Promise<Approval> {
  const now = clock.now();
  const action = approves ? "approval.approved" : "approval.declined";
  const change = { businessId, actorType: "user", actorId: userId, action, now } as const;
  return withAudit(store, change, async (transaction) => {
    const approval = await transaction.get("approvals", approvalId);
    if (!approval) throw problem("not_found");
    if (!isWaiting(approval, clock)) throw problem("confirmation_invalid");
    return transaction.update("approvals", approval, {
      status: approves ? "approved" : "declined",
      decidedAt: now.toISOString(),
      decidedBy: userId,
      decidedByName: name,
      reason: reason || null,
      except: approval.choices.includes("except") ? [...except] : [],
      showsHidden: approval.choices.includes("showHidden") && showsHidden,
    });
  });
}

/** Returns a function that polls, because another process may store the decision. */
function createDecisionWaiter(clock: Clock, find: Approvals["find"]): Approvals["waitForDecision"] {
  let waiting = 0;
  return async (businessId, approvalId, { limitMs, signal, onWaiting }) => {
    const startedMs = performance.now();
    let approval = await find(businessId, approvalId);
    if (waiting >= maxWaiting) return approval;
    waiting += 1;
    try {
      for (
        let intervalMs = firstIntervalMs;
        isWaiting(approval, clock);
        intervalMs = Math.min(intervalMs * 2, maxIntervalMs)
      ) {
        const remainingMs = limitMs - (performance.now() - startedMs);
        if (remainingMs <= 0 || signal.aborted) break;
        await delay(Math.min(intervalMs, remainingMs), undefined, { signal }).catch(() => undefined);
        approval = await find(businessId, approvalId);
        await onWaiting?.(performance.now() - startedMs);
      }
    } finally {
      waiting -= 1;
    }
    return approval;
  };
}

function isWaiting(approval: Approval | undefined, clock: Clock): boolean {
  return approval?.status === "pending" && !isExpired(approval, clock.now());
}

/** Returns whether an approval can no longer be decided or used. */
export function isExpired({ expiresAt }: Approval, now: Date): boolean {
  return Date.parse(expiresAt) <= now.getTime();
}

/** Returns whether a text has the form of an approval's id. */
export function isApprovalId(text: string): boolean {
  return /^apr_[0-9A-Z]{26}$/.test(text);
}
