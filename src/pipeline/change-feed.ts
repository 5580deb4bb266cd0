import type { Scope } from "../contract/access/scopes.ts";
import { Problem, problem } from "../contract/errors.ts";
import type { Log } from "../lib/log.ts";
import { LogOnce } from "../lib/log-once.ts";
import { waitForOthers } from "../lib/node/event-loop.ts";
import type { Caller } from "../store/handler-context.ts";
import type { Reader, Store } from "../store/port.ts";
import { listRecordChanges, type RecordChange } from "./event-record-map.ts";

export type { RecordChange };

/** Receives notifications of changes to a tenant's records. */
export interface Watcher {
  /** Records changed; `many` if there are too many to list. */
  changed(changes: readonly RecordChange[] | "many"): void;
  /** The token's scopes changed. */
  rescoped(scopes: ReadonlySet<Scope>): void;
  /** The token is no longer valid, and notifications end. */
  ended(): void;
}

export interface Watch {
  /** The token's scopes at the start. */
  readonly scopes: ReadonlySet<Scope>;
  /** Absent if the watch does not report records. */
  readonly position?: WatchPosition;
  stop(): void;
}

/** The start of a watch, so that it can continue an earlier one. */
export interface WatchPosition {
  /** The watch reports later commits by itself. */
  readonly commitNumber: number;
  /** Reports the changes that were committed after an earlier commit and up to this one. */
  since(commitNumber: number): Promise<void>;
}

export interface ChangeFeed {
  /**
   * Notifies a watcher within a second of changes to the records of its token's tenant.
   * @throws Problem `unauthorized`, `invalid_token`; `unavailable` with too many watchers
   */
  watch(token: string | undefined, watcher: Watcher): Promise<Watch>;
  close(): Promise<void>;
}

export interface ChangeFeedDeps {
  readonly store: Store;
  /** @throws Problem `unauthorized`, `invalid_token` */
  readonly identify: (token: string | undefined) => Promise<Pick<Caller, "businessId" | "scopes">>;
  readonly log: Log;
}

const pollMs = 400;
/** Changes reported one by one between two polls. */
export const maxChanges = 5_000;
export const maxFeedWatchers = 4_096;

/** The changes of one transaction, with the number of its commit (see `Reader.lastCommitNumber`). */
interface TrailEntry {
  readonly commitNumber: number;
  readonly changes: readonly RecordChange[];
}

/** Reads changes, oldest first. */
type Trail = (reader: Reader, afterCommitNumber: number, limit: number) => Promise<readonly TrailEntry[]>;

const trails: readonly Trail[] = [
  async function audit(reader, afterCommitNumber, limit) {
    const entries = await reader.changesAfter(afterCommitNumber, limit);
    return entries.map(({ auditId: _, occurredAt: __, commitNumber, ...change }) => ({
      commitNumber,
      changes: [change],
    }));
  },
  async function events(reader, afterCommitNumber, limit) {
    const entries = await reader.eventsAfter(afterCommitNumber, limit);
    return entries.map((entry) => ({ commitNumber: entry.commitNumber ?? 0, changes: listRecordChanges(entry) }));
  },
];

/** A trail of one tenant and the number of the commit up to which it was read. */
interface Tail {
  readonly trail: Trail;
  readonly businessId: string;
  commitNumber: number;
}

interface Follower {
  readonly token: string | undefined;
  readonly watcher: Watcher;
  readonly businessId: string;
  scopes: ReadonlySet<Scope>;
}

/**
 * Polls the audit trail and the event log of every tenant with a watcher, so changes by other processes and received
 * events show too.
 */
export function createChangeFeed(deps: ChangeFeedDeps): ChangeFeed {
  const feed = new TrailFeed(deps);
  return { watch: (token, watcher) => feed.watch(token, watcher), close: () => feed.close() };
}

class TrailFeed implements ChangeFeed {
  readonly #deps: ChangeFeedDeps;
  readonly #followers = new Set<Follower>();
  readonly #tails = new Map<string, Promise<readonly Tail[]>>();
  #timer: NodeJS.Timeout | undefined;
  readonly #failures = new LogOnce();
  #polling: Promise<void> | undefined;

  constructor(deps: ChangeFeedDeps) {
    this.#deps = deps;
  }

  async watch(token: string | undefined, watcher: Watcher): Promise<Watch> {
    const { businessId, scopes } = await this.#deps.identify(token);
    if (this.#followers.size >= maxFeedWatchers) throw problem("unavailable", { retryAfterSeconds: 60 });
    const follower: Follower = { token, watcher, businessId, scopes };
    this.#followers.add(follower);
    const tails = this.#tails.get(businessId) ?? startTails(this.#deps, businessId);
    this.#tails.set(businessId, tails);
    let commitNumber: number;
    try {
      commitNumber = Math.min(...(await tails).map((tail) => tail.commitNumber));
    } catch (error) {
      this.#tails.delete(businessId);
      this.#leave(follower);
      throw error;
    }
    this.#arm();
    const listSince = (earlier: number) => this.#catchUp(follower, earlier, commitNumber);
    return { scopes: follower.scopes, position: { commitNumber, since: listSince }, stop: () => this.#leave(follower) };
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#followers.clear();
    this.#tails.clear();
    await this.#polling;
  }

  async #catchUp(follower: Follower, afterCommitNumber: number, commitNumber: number): Promise<void> {
    const reader = this.#deps.store.reader(follower.businessId);
    for (const trail of trails) {
      const entries = await trail(reader, afterCommitNumber, maxChanges + 1);
      const missed = entries.filter((entry) => entry.commitNumber <= commitNumber).flatMap(({ changes }) => changes);
      const changes = entries.length > maxChanges ? "many" : missed;
      if (changes.length > 0) this.#notify(follower, (watcher) => watcher.changed(changes));
    }
  }

  #arm(): void {
    if (this.#timer || this.#followers.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#polling = this.#poll().then(() => {
        this.#timer = undefined;
        this.#arm();
      });
    }, pollMs);
    // Notifications alone must not keep the process running.
    this.#timer.unref();
  }

  async #poll(): Promise<void> {
    let failure: unknown;
    for (const businessId of new Set([...this.#followers].map((follower) => follower.businessId))) {
      try {
        await this.#checkTokens(this.#listFollowers(businessId));
        for (const tail of (await this.#tails.get(businessId)) ?? []) {
          const changes = await readOn(this.#deps, tail);
          if (changes.length === 0) continue;
          // Some may have come since the poll began.
          for (const follower of this.#listFollowers(businessId)) {
            // Each notification is a message to write. Beside 480 watchers, the p99 of a read is 11 ms, otherwise 37.
            await waitForOthers();
            this.#notify(follower, (watcher) => watcher.changed(changes));
          }
        }
      } catch (error) {
        failure = error;
      }
    }
    if (failure === undefined) this.#failures.reset();
    else if (this.#failures.isDue()) this.#deps.log.error({ err: failure }, "Changes could not be followed");
  }

  /** Ends the watches of revoked tokens. */
  async #checkTokens(own: readonly Follower[]): Promise<void> {
    for (const [token, sharing] of Map.groupBy(own, (follower) => follower.token)) {
      const caller = await this.#deps.identify(token).catch(handleRefusal);
      for (const follower of sharing) {
        if (caller === undefined) {
          this.#notify(follower, (watcher) => watcher.ended());
          this.#leave(follower);
        } else if (caller.scopes.symmetricDifference(follower.scopes).size > 0) {
          follower.scopes = caller.scopes;
          this.#notify(follower, (watcher) => watcher.rescoped(caller.scopes));
        }
      }
    }
  }

  #notify(follower: Follower, call: (watcher: Watcher) => void): void {
    if (!this.#followers.has(follower)) return;
    try {
      call(follower.watcher);
    } catch (error) {
      this.#deps.log.error({ err: error }, "A watcher failed");
    }
  }

  #listFollowers(businessId: string): Follower[] {
    return [...this.#followers].filter((follower) => follower.businessId === businessId);
  }

  #leave(follower: Follower): void {
    this.#followers.delete(follower);
    const { businessId } = follower;
    // A later watcher must start at its own position, not where the last one stopped.
    if (![...this.#followers].some((other) => other.businessId === businessId)) this.#tails.delete(businessId);
  }
}

async function startTails({ store }: ChangeFeedDeps, businessId: string): Promise<Tail[]> {
  const commitNumber = await store.reader(businessId).lastCommitNumber();
  return trails.map((trail) => ({ trail, businessId, commitNumber }));
}

/** Reads the changes since the last poll. Numbers follow the order of commits, so none can appear before one already read. */
async function readOn({ store }: ChangeFeedDeps, tail: Tail): Promise<readonly RecordChange[] | "many"> {
  const reader = store.reader(tail.businessId);
  const last = await reader.lastCommitNumber();
  if (last === tail.commitNumber) return [];
  const entries = await tail.trail(reader, tail.commitNumber, maxChanges + 1);
  const many = entries.length > maxChanges;
  // A transaction may commit between the two reads.
  tail.commitNumber = many ? last : Math.max(last, entries.at(-1)?.commitNumber ?? 0);
  return many ? "many" : entries.flatMap(({ changes }) => changes);
}

function handleRefusal(error: unknown): undefined {
  if (error instanceof Problem && error.status === 401) return undefined;
  throw error;
}
