import { Problem, problem } from "../contract/errors.ts";
import type { Scope } from "../contract/scopes.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { ChangeEntry, Store } from "../store/port.ts";
import type { Caller } from "../store/work.ts";

/** Which record changed, by kind and ids: nothing personal. */
export type RecordChange = Omit<ChangeEntry, "auditId" | "occurredAt">;

/** Somebody who follows an organisation's records. */
export interface Watcher {
  /** These records changed, whoever changed them; `many` where too much did to tell. */
  changed(changes: readonly RecordChange[] | "many"): void;
  /** The token's scopes are others now. */
  rescoped(scopes: ReadonlySet<Scope>): void;
  /** The token is no longer valid: nothing more will be told. */
  ended(): void;
}

export interface Watch {
  /** The token's scopes at the start. */
  readonly scopes: ReadonlySet<Scope>;
  stop(): void;
}

export interface ChangeFeed {
  /**
   * Tells a watcher of the records of its token's organisation whatever is committed from now on, within a second.
   * @throws Problem `unauthorized`, `invalid_token`; `unavailable` with too many watchers
   */
  watch(token: string | undefined, watcher: Watcher): Promise<Watch>;
  close(): Promise<void>;
}

export interface ChangeFeedDeps {
  readonly store: Store;
  /** @throws Problem `unauthorized`, `invalid_token` */
  readonly identify: (token: string | undefined) => Promise<Caller>;
  readonly clock: Clock;
  readonly log: Log;
}

const pollMs = 400;
/** How long after its time an entry may be committed: transactions wait for each other, clocks differ. */
const overlapMs = 10_000;
/** Within the overlap. */
const maxChanges = 5_000;
const maxWatchers = 4_096;

/** The changes of one organisation, read up to some time. */
interface Tail {
  readonly businessId: string;
  /** When the latest entry occurred. */
  latest: string;
  /** Entries read already, as far back as the overlap goes. */
  known: ReadonlySet<string>;
}

interface Follower {
  readonly token: string | undefined;
  readonly watcher: Watcher;
  readonly businessId: string;
  scopes: ReadonlySet<Scope>;
}

/** Follows the audit trail of every organisation that somebody watches: so changes by other processes show too. */
export function createChangeFeed({ store, identify, clock, log }: ChangeFeedDeps): ChangeFeed {
  const followers = new Set<Follower>();
  const tails = new Map<string, Promise<Tail>>();
  let timer: NodeJS.Timeout | undefined;
  let polling: Promise<void> | undefined;

  function arm(): void {
    if (timer || followers.size === 0) return;
    timer = setTimeout(() => {
      polling = poll().then(() => {
        timer = undefined;
        arm();
      });
    }, pollMs);
    // What is told matters only while something else keeps the process up.
    timer.unref();
  }

  async function poll(): Promise<void> {
    for (const [businessId, own] of Map.groupBy(followers, (follower) => follower.businessId)) {
      try {
        await checkTokens(own);
        const tail = await tails.get(businessId);
        const changes = tail ? await readOn(store, clock, tail) : [];
        if (changes.length > 0) tell(own, (watcher) => watcher.changed(changes));
      } catch (error) {
        log.error({ err: error }, "Changes could not be followed");
      }
    }
  }

  /** Whose token was revoked is told nothing more. */
  async function checkTokens(own: readonly Follower[]): Promise<void> {
    for (const [token, sharing] of Map.groupBy(own, (follower) => follower.token)) {
      const caller = await identify(token).catch(refused);
      for (const follower of sharing) {
        if (caller === undefined) {
          tell([follower], (watcher) => watcher.ended());
          leave(follower);
        } else if (caller.scopes.symmetricDifference(follower.scopes).size > 0) {
          follower.scopes = caller.scopes;
          tell([follower], (watcher) => watcher.rescoped(caller.scopes));
        }
      }
    }
  }

  function tell(own: readonly Follower[], what: (watcher: Watcher) => void): void {
    for (const follower of own) {
      if (!followers.has(follower)) continue;
      try {
        what(follower.watcher);
      } catch (error) {
        log.error({ err: error }, "A watcher failed");
      }
    }
  }

  function leave(follower: Follower): void {
    followers.delete(follower);
    const { businessId } = follower;
    // A tail that nobody reads on from would tell the next one of things long past.
    if (![...followers].some((other) => other.businessId === businessId)) tails.delete(businessId);
  }

  return {
    async watch(token, watcher) {
      const { businessId, scopes } = await identify(token);
      if (followers.size >= maxWatchers) throw problem("unavailable", { retryAfterSeconds: 60 });
      const follower: Follower = { token, watcher, businessId, scopes };
      followers.add(follower);
      const tail = tails.get(businessId) ?? startTail(store, clock, businessId);
      tails.set(businessId, tail);
      try {
        await tail;
      } catch (error) {
        tails.delete(businessId);
        leave(follower);
        throw error;
      }
      arm();
      return { scopes, stop: () => leave(follower) };
    },

    async close() {
      clearTimeout(timer);
      followers.clear();
      tails.clear();
      await polling;
    },
  };
}

async function startTail(store: Store, clock: Clock, businessId: string): Promise<Tail> {
  const { rows } = await store.reader(businessId).pageAudit({}, { limit: 1 });
  const tail: Tail = { businessId, latest: rows[0]?.occurredAt ?? "", known: new Set() };
  await readOn(store, clock, tail);
  return tail;
}

/** What was committed since the last time. */
async function readOn(store: Store, clock: Clock, tail: Tail): Promise<readonly RecordChange[] | "many"> {
  // An entry ahead of this clock must not hide what is yet to come.
  const fromMs = Math.min(Date.parse(tail.latest) || 0, clock.now().getTime()) - overlapMs;
  const since = new Date(Math.max(0, fromMs)).toISOString();
  const entries = await store.reader(tail.businessId).changesSince(since, maxChanges + 1);
  const fresh = entries.filter(({ auditId }) => !tail.known.has(auditId));
  tail.known = new Set(entries.map(({ auditId }) => auditId));
  tail.latest = entries.at(-1)?.occurredAt ?? tail.latest;
  if (entries.length <= maxChanges) return fresh;
  const { rows } = await store.reader(tail.businessId).pageAudit({}, { limit: 1 });
  tail.latest = rows[0]?.occurredAt ?? tail.latest;
  return "many";
}

function refused(error: unknown): undefined {
  if (error instanceof Problem && error.status === 401) return undefined;
  throw error;
}
