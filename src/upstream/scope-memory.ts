import { type Scope, scopes, sensitiveScope } from "../contract/scopes.ts";
import type { Clock } from "../lib/clock.ts";
import { sha256Hex } from "../lib/crypto.ts";

/** What is known of the scopes of product tokens, which cannot be asked for: told by configuration, or learnt from refusals. */
export interface ScopeMemory {
  scopesOf(token: string): ReadonlySet<Scope>;
  /** A refusal named this scope: what needs it is hidden for a while. True when that is news. */
  lacks(token: string, missing: readonly Scope[]): boolean;
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

/**
 * @param told - the scopes that the operator says the token has. Without them every scope is supposed but the one that
 *   shows sensitive data: what nobody granted in words stays hidden.
 */
export function createScopeMemory(clock: Clock, told: readonly Scope[] | undefined): ScopeMemory {
  const learnt = new Map<string, Learnt>();
  const supposed = told ?? scopes.filter((scope) => scope !== sensitiveScope);

  function of(token: string): Learnt {
    const key = sha256Hex(token);
    let known = learnt.get(key);
    if (!known) {
      if (learnt.size >= maxTokens) learnt.delete(learnt.keys().next().value as string);
      known = { missing: new Map(), rejectedUntilMs: 0 };
      learnt.set(key, known);
    }
    return known;
  }

  const holds = (untilMs: number | undefined) => untilMs !== undefined && untilMs > clock.now().getTime();

  return {
    scopesOf(token) {
      const { missing } = of(token);
      return new Set(supposed.filter((scope) => !holds(missing.get(scope))));
    },
    lacks(token, scopesMissing) {
      const { missing } = of(token);
      const news = scopesMissing.some((scope) => !holds(missing.get(scope)));
      for (const scope of scopesMissing) missing.set(scope, clock.now().getTime() + forgetMs);
      return news;
    },
    rejected(token) {
      of(token).rejectedUntilMs = clock.now().getTime() + rejectMs;
    },
    isRejected: (token) => holds(of(token).rejectedUntilMs),
  };
}
