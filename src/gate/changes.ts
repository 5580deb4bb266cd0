import { Problem, problem } from "../contract/errors.ts";
import { visibleKinds } from "../contract/event-log.ts";
import { scopes as allScopes, type Scope } from "../contract/scopes.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Reader, Store } from "../store/port.ts";
import type { Caller } from "../store/work.ts";
import { changesBy, type RecordChange } from "./event-changes.ts";

export type { RecordChange };

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
  readonly identify: (token: string | undefined) => Promise<Pick<Caller, "businessId" | "scopes">>;
  readonly clock: Clock;
  readonly log: Log;
}

const pollMs = 400;
/** How long after its time an entry may be committed: transactions wait for each other, clocks differ. */
const overlapMs = 10_000;
/** Within the overlap. */
const maxChanges = 5_000;
const maxWatchers = 4_096;

/** Something that changes can be read from. */
interface Trail {
  /** When its latest entry is from; empty without any. */
  latest(reader: Reader): Promise<string>;
  /** Its entries from then on, oldest first. */
  since(reader: Reader, since: string, limit: number): Promise<readonly TrailEntry[]>;
}

interface TrailEntry {
  readonly id: string;
  readonly at: string;
  readonly changes: readonly RecordChange[];
}

const audit: Trail = {
  async latest(reader) {
    const { rows } = await reader.pageAudit({}, { limit: 1 });
    return rows[0]?.occurredAt ?? "";
  },
  async since(reader, since, limit) {
    const entries = await reader.changesSince(since, limit);
    return entries.map(({ auditId, occurredAt, ...change }) => ({ id: auditId, at: occurredAt, changes: [change] }));
  },
};

const events: Trail = {
  async latest(reader) {
    const { rows } = await reader.pageEvents({ kinds: visibleKinds(new Set(allScopes)) }, { limit: 1 });
    return rows[0]?.receivedAt ?? rows[0]?.timestamp ?? "";
  },
  async since(reader, since, limit) {
    const entries = await reader.eventsSince(since, limit);
    return entries.map((entry) => ({ id: entry.eventId, at: entry.at, changes: changesBy(entry) }));
  },
};

/** A trail of one organisation, read up to some time. */
interface Tail {
  readonly trail: Trail;
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

/**
 * Follows the audit trail and the event log of every organisation that somebody watches: so what other processes change
 * or are sent shows too.
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
  #polling: Promise<void> | undefined;

  constructor(deps: ChangeFeedDeps) {
    this.#deps = deps;
  }

  async watch(token: string | undefined, watcher: Watcher): Promise<Watch> {
    const { businessId, scopes } = await this.#deps.identify(token);
    if (this.#followers.size >= maxWatchers) throw problem("unavailable", { retryAfterSeconds: 60 });
    const follower: Follower = { token, watcher, businessId, scopes };
    this.#followers.add(follower);
    const tails = this.#tails.get(businessId) ?? startTails(this.#deps, businessId);
    this.#tails.set(businessId, tails);
    try {
      await tails;
    } catch (error) {
      this.#tails.delete(businessId);
      this.#leave(follower);
      throw error;
    }
    this.#arm();
    return { scopes: follower.scopes, stop: () => this.#leave(follower) };
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#followers.clear();
    this.#tails.clear();
    await this.#polling;
  }

  #arm(): void {
    if (this.#timer || this.#followers.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#polling = this.#poll().then(() => {
        this.#timer = undefined;
        this.#arm();
      });
    }, pollMs);
    // What is told matters only while something else keeps the process up.
    this.#timer.unref();
  }

  async #poll(): Promise<void> {
    for (const [businessId, own] of Map.groupBy(this.#followers, (follower) => follower.businessId)) {
      try {
        await this.#checkTokens(own);
        for (const tail of (await this.#tails.get(businessId)) ?? []) {
          const changes = await readOn(this.#deps, tail);
          if (changes.length > 0) this.#tell(own, (watcher) => watcher.changed(changes));
        }
      } catch (error) {
        this.#deps.log.error({ err: error }, "Changes could not be followed");
      }
    }
  }

  /** Whose token was revoked is told nothing more. */
  async #checkTokens(own: readonly Follower[]): Promise<void> {
    for (const [token, sharing] of Map.groupBy(own, (follower) => follower.token)) {
      const caller = await this.#deps.identify(token).catch(refused);
      for (const follower of sharing) {
        if (caller === undefined) {
          this.#tell([follower], (watcher) => watcher.ended());
          this.#leave(follower);
        } else if (caller.scopes.symmetricDifference(follower.scopes).size > 0) {
          follower.scopes = caller.scopes;
          this.#tell([follower], (watcher) => watcher.rescoped(caller.scopes));
        }
      }
    }
  }

  #tell(own: readonly Follower[], what: (watcher: Watcher) => void): void {
    for (const follower of own) {
      if (!this.#followers.has(follower)) continue;
      try {
        what(follower.watcher);
      } catch (error) {
        this.#deps.log.error({ err: error }, "A watcher failed");
      }
    }
  }

  #leave(follower: Follower): void {
    this.#followers.delete(follower);
    const { businessId } = follower;
    // A tail that nobody reads on from would tell the next one of things long past.
    if (![...this.#followers].some((other) => other.businessId === businessId)) this.#tails.delete(businessId);
  }
}

async function startTails(deps: ChangeFeedDeps, businessId: string): Promise<Tail[]> {
  const tails: Tail[] = [];
  for (const trail of [audit, events]) {
    const latest = await trail.latest(deps.store.reader(businessId));
    const tail = { trail, businessId, latest, known: new Set<string>() };
    await readOn(deps, tail);
    tails.push(tail);
  }
  return tails;
}

/** What was committed since the last time. */
async function readOn({ store, clock }: ChangeFeedDeps, tail: Tail): Promise<readonly RecordChange[] | "many"> {
  // An entry ahead of this clock must not hide what is yet to come.
  const fromMs = Math.min(Date.parse(tail.latest) || 0, clock.now().getTime()) - overlapMs;
  const since = new Date(Math.max(0, fromMs)).toISOString();
  const reader = store.reader(tail.businessId);
  const entries = await tail.trail.since(reader, since, maxChanges + 1);
  const fresh = entries.filter(({ id }) => !tail.known.has(id));
  tail.known = new Set(entries.map(({ id }) => id));
  tail.latest = entries.at(-1)?.at ?? tail.latest;
  if (entries.length <= maxChanges) return fresh.flatMap(({ changes }) => changes);
  tail.latest = (await tail.trail.latest(reader)) || tail.latest;
  return "many";
}

function refused(error: unknown): undefined {
  if (error instanceof Problem && error.status === 401) return undefined;
  throw error;
}
