import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { createLoop, type Worker } from "../lib/worker.ts";
import type { Store } from "../store/port.ts";
import { approverRoles, mayDecide } from "./approvals.ts";

/** The least time between two messages to one person, and before a message that failed is tried again. */
export const noticeIntervalMs = 5 * 60_000;
const idleMs = 2_000;
/** More cannot wait for one person to look at: the next message covers the rest. */
const maxRead = 100;

export interface NotifierDeps {
  readonly store: Pick<Store, "reader" | "users">;
  readonly clock: Clock;
  readonly log: Log;
  /** Sends a message that approvals wait. Returns whether no other attempt is needed. */
  readonly send: (email: string, signal: AbortSignal) => Promise<boolean>;
}

/** Creates the worker that sends people messages of new approvals on which they may decide, if they want them. */
export function createApprovalNotifier(deps: NotifierDeps): Worker {
  return createLoop({
    step: (signal) => notifyNext(deps, signal),
    idleMs,
    failed: (error) => deps.log.error({ err: error }, "People could not be told of approvals"),
  });
}

async function notifyNext({ store, clock, send }: NotifierDeps, signal: AbortSignal): Promise<boolean> {
  const nowMs = clock.now().getTime();
  const [now = "", triedBefore = ""] = [nowMs, nowMs - noticeIntervalMs].map((ms) => new Date(ms).toISOString());
  const notice = await store.users.approvalNotices.claim({ now, triedBefore, roles: approverRoles });
  if (!notice) return false;
  const user = await store.users.get(notice.userId);
  const where = { status: "pending", expiresAt: { gt: now }, createdAt: { gt: notice.toldUntil } } as const;
  const order = { limit: maxRead, orderBy: "createdAt", descending: true } as const;
  const waiting = await store.reader(notice.businessId).find("approvals", { where }, order);
  const [newest] = waiting;
  if (!user || !newest) return true;
  const concerned = waiting.some((approval) => mayDecide(user, approval));
  if (concerned && !(await send(user.email, signal))) return true;
  await store.users.approvalNotices.markTold(notice, newest.createdAt);
  return true;
}
