import { type Scope, scopes, sensitiveScope } from "../contract/scopes.ts";
import type { Clock } from "../lib/clock.ts";
import { sha256Hex } from "../lib/crypto.ts";

/** What is known of the scopes of product tokens, which cannot be asked for: told by configuration, or learnt from refusals. */
export interface ScopeMemory {
  scopesOf(token: string): ReadonlySet<Scope>;
  /** A refusal named these scopes: what needs them is hidden for a while. */
  lacks(token: string, missing: readonly Scope[]): void;
  /** The service let the token use this scope. */
  holds(token: string, scope: Scope): void;
  /** The service did not know the token: it is not asked again for a moment. */
  rejected(token: string): void;
  isRejected(token: string): boolean;
}

const forgetMs = 10 * 60_000;
const rejectMs = 30_000;
const maxTokens = 10_000;

interface Learnt {
  readonly missing: Map<Scope, number>;
  rejectedUntilMs: number;
}

/** What is known of a token of which nothing was learnt. */
const nothing: Learnt = { missing: new Map(), rejectedUntilMs: 0 };

/**
 * @param told - the scopes that the operator says the token has. Without them every scope is supposed but the one that
 *   shows sensitive data: what nobody granted in words stays hidden.
 */
export function createScopeMemory(clock: Clock, told: readonly Scope[] | undefined): ScopeMemory {
  const learnt = new Map<string, Learnt>();
  const supposed = new Set<Scope>(told ?? scopes.filter((scope) => scope !== sensitiveScope));

  const of = (token: string) => learnt.get(sha256Hex(token)) ?? nothing;

  /** To be written to: only tokens of which something is learnt are remembered. */
  function noted(token: string): Learnt {
    const key = sha256Hex(token);
    const known = learnt.get(key) ?? { missing: new Map(), rejectedUntilMs: 0 };
    if (!learnt.has(key) && learnt.size >= maxTokens) learnt.delete(learnt.keys().next().value as string);
    learnt.set(key, known);
    return known;
  }

  const lasts = (untilMs: number | undefined) => untilMs !== undefined && untilMs > clock.now().getTime();

  return {
    scopesOf(token) {
      const { missing } = of(token);
      if (missing.size === 0) return supposed;
      return new Set([...supposed].filter((scope) => !lasts(missing.get(scope))));
    },
    lacks(token, scopesMissing) {
      const { missing } = noted(token);
      for (const scope of scopesMissing) missing.set(scope, clock.now().getTime() + forgetMs);
    },
    holds: (token, scope) => void of(token).missing.delete(scope),
    rejected(token) {
      noted(token).rejectedUntilMs = clock.now().getTime() + rejectMs;
    },
    isRejected: (token) => lasts(of(token).rejectedUntilMs),
  };
}
