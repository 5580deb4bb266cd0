import { LRUCache } from "lru-cache";
import { excludeSensitiveScopes, type Scope, scopes } from "../../contract/access/scopes.ts";
import { problem } from "../../contract/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { computeSecretFingerprint } from "../../lib/crypto/fingerprint.ts";
import type { Watch, Watcher } from "../port.ts";

/** Caches the scopes of product tokens. They cannot be queried: they are configured, or learnt from refusals. */
export interface ScopeCache {
  scopesOf(token: string): ReadonlySet<Scope>;
  /** Records that a refusal named these scopes. Tools that need them are hidden for a while. */
  lacks(token: string, missing: readonly Scope[]): void;
  /** Records that the service accepted the token for this scope. */
  holds(token: string, scope: Scope): void;
  /** Records that the service does not know the token. It is not asked again for a moment. */
  rejected(token: string): void;
  isRejected(token: string): boolean;
  /**
   * Notifies a watcher when the known scopes of a token change, and when the service does not know the token.
   * @throws Problem `unavailable` with too many watchers
   */
  watch(token: string, watcher: Watcher): Watch;
}

const forgetMs = 10 * 60_000;
const rejectMs = 30_000;
const maxTokens = 10_000;
export const maxScopeWatchers = 4_096;

interface Learnt {
  readonly missing: Map<Scope, number>;
  rejectedUntilMs: number;
}

/** The state of a token about which nothing was learnt. */
const nothing: Learnt = { missing: new Map(), rejectedUntilMs: 0 };

/**
 * @param told - the configured scopes of the token. Without them, every scope is assumed except the one that shows
 * sensitive data, which must be granted explicitly.
 */
export function createScopeCache(clock: Clock, configured: readonly Scope[] | undefined): ScopeCache {
  const learnt = new LRUCache<string, Learnt>({ max: maxTokens });
  const supposed = new Set<Scope>(configured ?? excludeSensitiveScopes(scopes));

  function getLearnt(token: string): Learnt {
    // Most services refuse nothing, and each call asks several times.
    return (learnt.size > 0 ? learnt.get(computeSecretFingerprint(token)) : undefined) ?? nothing;
  }

  /** Used for writes only, so that tokens without learnt facts take no memory. */
  function getOrCreateLearnt(token: string): Learnt {
    const key = computeSecretFingerprint(token);
    const known = learnt.get(key) ?? { missing: new Map(), rejectedUntilMs: 0 };
    learnt.set(key, known);
    return known;
  }

  const isCurrent = (untilMs: number | undefined) => untilMs !== undefined && untilMs > clock.now().getTime();

  function getScopes(token: string): ReadonlySet<Scope> {
    const { missing } = getLearnt(token);
    if (missing.size === 0) return supposed;
    return new Set([...supposed].filter((scope) => !isCurrent(missing.get(scope))));
  }

  const watched = createScopeWatches(getScopes);

  return {
    scopesOf: getScopes,
    lacks(token, scopesMissing) {
      const { missing } = getOrCreateLearnt(token);
      for (const scope of scopesMissing) missing.set(scope, clock.now().getTime() + forgetMs);
      watched.look(token);
      watched.lookLater(token, forgetMs);
    },
    holds(token, scope) {
      if (getLearnt(token).missing.delete(scope)) watched.look(token);
    },
    rejected(token) {
      getOrCreateLearnt(token).rejectedUntilMs = clock.now().getTime() + rejectMs;
      watched.end(token);
    },
    isRejected: (token) => isCurrent(getLearnt(token).rejectedUntilMs),
    watch: watched.watch,
  };
}

interface Watching {
  readonly watcher: Watcher;
  /** The scopes that the watcher last received. */
  shown: ReadonlySet<Scope>;
}

/** Watchers of changes in a token's scopes. */
function createScopeWatches(scopesOf: (token: string) => ReadonlySet<Scope>) {
  const watching = new Map<string, Set<Watching>>();
  let count = 0;

  const getLearnt = (token: string) => watching.get(computeSecretFingerprint(token)) ?? new Set<Watching>();

  function look(token: string): void {
    const scopes = scopesOf(token);
    for (const each of getLearnt(token)) {
      if (each.shown.symmetricDifference(scopes).size === 0) continue;
      each.shown = scopes;
      each.watcher.rescoped(scopes);
    }
  }

  return {
    look,
    /** Checks again when scopes that are hidden for a while return. */
    lookLater(token: string, afterMs: number): void {
      if (getLearnt(token).size > 0) setTimeout(() => look(token), afterMs + 1).unref();
    },
    end(token: string): void {
      for (const { watcher } of getLearnt(token)) watcher.ended();
    },
    watch(token: string, watcher: Watcher): Watch {
      if (count >= maxScopeWatchers) throw problem("unavailable", { retryAfterSeconds: 60 });
      const key = computeSecretFingerprint(token);
      const all = watching.get(key) ?? new Set<Watching>();
      const own: Watching = { watcher, shown: scopesOf(token) };
      watching.set(key, all.add(own));
      count += 1;
      return {
        scopes: own.shown,
        stop() {
          if (!all.delete(own)) return;
          count -= 1;
          if (all.size === 0) watching.delete(key);
        },
      };
    },
  };
}
