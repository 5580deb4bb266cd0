import { LRUCache } from "lru-cache";
import { problem } from "../contract/errors.ts";
import type { Clock } from "../lib/clock.ts";
import type { EndedLease, PermitGrant, PermitLease } from "../store/coordination/rate-limit-leases.ts";
import type { Store } from "../store/port.ts";

/** The state of a token's request rate, for the rate headers. */
export interface Rate {
  readonly limit: number;
  readonly remaining: number;
  readonly windowSeconds: number;
  /** Present if the request was refused. */
  readonly retryAfterSeconds?: number;
}

export interface RateLimiter {
  /**
   * Uses a permit of the token's sliding window (specification 8).
   * @throws RateLimited
   */
  consume(tokenId: string): Promise<Rate>;
  /** Returns the state of the token's rate, without using a permit. */
  peek(tokenId: string): Promise<Rate>;
  /** Gives the permits that are not used back, for other processes. */
  close(): Promise<void>;
}

const windowMs = 60_000;
const leaseMs = 20_000;
const maxChunk = 10_000;
export const maxLimitedTokens = 10_000;
/** A process that stops gives the permits of this many tokens back at a time, and leaves the database to others too. */
const concurrentReleases = 8;

interface Holding {
  lease: PermitLease | undefined;
  usedAtMs: number[];
  /** A lease that the current one replaced before its end. It counts in full until it is settled with the current one. */
  replaced: EndedLease | undefined;
  /** Permits of the window that are in no lease of this process. */
  remaining: number;
  blockedUntilMs: number;
  leasing: Promise<void> | undefined;
}

/**
 * Limits requests by a sliding window that all processes on one store share. A process leases a chunk of permits at a
 * time, so a request needs no write. A lease that ends reports when each permit was used, so the window stays exact.
 * While much of the window is free, the next lease is taken before the current one ends, so no request waits for it.
 */
export function createRateLimiter(store: Store, clock: Clock, limit: number): RateLimiter {
  const holdings = new LRUCache<string, Holding>({ max: maxLimitedTokens });
  const { leaseOnce, leaseEarly, release } = createLeaser(store, clock, limit);

  function getHolding(tokenId: string): Holding {
    let holding = holdings.get(tokenId);
    if (!holding) {
      // An evicted lease counts in full until it ends, so the token gets too few permits for a minute, never too many.
      holding = {
        lease: undefined,
        usedAtMs: [],
        replaced: undefined,
        remaining: 0,
        blockedUntilMs: 0,
        leasing: undefined,
      };
      holdings.set(tokenId, holding);
    }
    return holding;
  }

  const createRate = (remaining: number, retryAfterSeconds?: number): Rate => ({
    limit,
    remaining,
    windowSeconds: windowMs / 1000,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });

  async function consume(tokenId: string): Promise<Rate> {
    const holding = getHolding(tokenId);
    for (;;) {
      const nowMs = clock.now().getTime();
      const { lease: current } = holding;
      if (current && nowMs < current.expiresAtMs && holding.usedAtMs.length < current.granted) {
        holding.usedAtMs.push(nowMs);
        leaseEarly(tokenId, holding, current, nowMs);
        return createRate(holding.remaining + current.granted - holding.usedAtMs.length);
      }
      const blockedSeconds = getBlockedSeconds(holding, nowMs);
      if (blockedSeconds > 0) throw new RateLimited(createRate(0, blockedSeconds));
      await leaseOnce(tokenId, holding);
    }
  }

  async function peek(tokenId: string): Promise<Rate> {
    const holding = getHolding(tokenId);
    const nowMs = clock.now().getTime();
    if (getBlockedSeconds(holding, nowMs) === 0 && (holding.lease?.expiresAtMs ?? 0) <= nowMs) {
      await leaseOnce(tokenId, holding);
    }
    const { lease: current, remaining, usedAtMs } = holding;
    const blockedSeconds = getBlockedSeconds(holding, nowMs);
    if (blockedSeconds > 0) return createRate(0, blockedSeconds);
    return createRate(remaining + (current?.granted ?? 0) - usedAtMs.length);
  }

  async function close(): Promise<void> {
    const nowMs = clock.now().getTime();
    const held = [...holdings.entries()].filter(([, { lease }]) => lease && lease.expiresAtMs > nowMs).values();
    const releaseRest = async () => {
      for (const [tokenId, holding] of held) await release(tokenId, holding);
    };
    await Promise.all(Array.from({ length: concurrentReleases }, releaseRest));
    holdings.clear();
  }

  return { consume, peek, close };
}

/** Returns functions that take leases for the holdings of tokens, one at a time for each. */
function createLeaser(store: Store, clock: Clock, limit: number) {
  const chunk = Math.min(maxChunk, Math.max(1, Math.ceil(limit / 10)));

  function requestLease(tokenId: string, settle: readonly EndedLease[], permits = chunk): Promise<PermitGrant> {
    const nowMs = clock.now().getTime();
    return store.leasePermits({ tokenId, limit, windowMs, chunk: permits, leaseMs, nowMs, settle });
  }

  /** Ends the lease of a token, and takes the next one. */
  async function lease(tokenId: string, holding: Holding): Promise<void> {
    const grant = await requestLease(tokenId, listEndedLeases(holding));
    holding.lease = grant.lease;
    holding.usedAtMs = [];
    holding.replaced = undefined;
    holding.remaining = grant.remaining;
    holding.blockedUntilMs = grant.lease ? 0 : grant.retryAtMs;
  }

  /** Takes the next lease of a token, while requests go on to use the current one. */
  async function leaseAhead(tokenId: string, holding: Holding, current: PermitLease): Promise<void> {
    const grant = await requestLease(tokenId, holding.replaced ? [holding.replaced] : []);
    holding.replaced = undefined;
    if (!grant.lease) return;
    const { usedAtMs } = holding;
    holding.replaced = { leaseId: current.leaseId, usedAtMs };
    holding.lease = grant.lease;
    holding.usedAtMs = [];
    holding.remaining = grant.remaining + current.granted - usedAtMs.length;
  }

  /** Ends the lease of a token without another. */
  async function release(tokenId: string, holding: Holding): Promise<void> {
    await holding.leasing?.catch(() => undefined);
    await requestLease(tokenId, listEndedLeases(holding), 0);
  }

  function leaseOnce(tokenId: string, holding: Holding, take = lease): Promise<void> {
    holding.leasing ??= take(tokenId, holding).finally(() => {
      holding.leasing = undefined;
    });
    return holding.leasing;
  }

  /** Takes the next lease if half of the current one is over. Exactness near the limit needs that leases end first. */
  function leaseEarly(tokenId: string, holding: Holding, current: PermitLease, nowMs: number): void {
    const isHalfOver = current.expiresAtMs - nowMs < leaseMs / 2 || holding.usedAtMs.length * 2 > current.granted;
    if (!isHalfOver || holding.leasing || holding.remaining < limit / 2) return;
    // A failure is left to the request that needs the next lease.
    leaseOnce(tokenId, holding, () => leaseAhead(tokenId, holding, current)).catch(() => undefined);
  }

  return { leaseOnce, leaseEarly, release };
}

function listEndedLeases({ lease: current, usedAtMs, replaced }: Holding): EndedLease[] {
  const ended = current && { leaseId: current.leaseId, usedAtMs };
  return [replaced, ended].filter((each) => each !== undefined);
}

/** Returns 0 for a holding that is not blocked. A block beyond the window means that the clock was set back. */
function getBlockedSeconds({ blockedUntilMs }: Holding, nowMs: number): number {
  const leftMs = blockedUntilMs - nowMs;
  return leftMs > windowMs ? 0 : Math.max(0, Math.ceil(leftMs / 1000));
}

/** Refuses a request over the limit, with the rate for its headers. */
export class RateLimited extends Error {
  readonly rate: Rate;

  constructor(rate: Rate) {
    super("rate_limited");
    this.rate = rate;
  }

  get problem() {
    return problem("rate_limited", { retryAfterSeconds: this.rate.retryAfterSeconds });
  }
}
