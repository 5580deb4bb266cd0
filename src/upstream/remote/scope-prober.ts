import { LRUCache } from "lru-cache";
import type { Scope } from "../../contract/access/scopes.ts";
import { createScopeProbe } from "../../contract/definition/scope-probe.ts";
import type { Clock } from "../../lib/clock.ts";
import { computeSecretFingerprint } from "../../lib/crypto/fingerprint.ts";
import { createId } from "../../lib/ids.ts";
import type { Upstream } from "../port.ts";

/** Reports which scopes the service has recently accepted, for data that is shown here without asking the service. */
export interface ScopeProber {
  /**
   * Returns which of these scopes the service accepts for the token, according to an answer of the last minute.
   * @throws Problem `invalid_token`, `rate_limited`, `upstream_*`
   */
  held(token: string, scopes: Iterable<Scope>): Promise<ReadonlySet<Scope>>;
}

interface Proof {
  readonly atMs: number;
  readonly holds: Promise<boolean>;
}

const lastsMs = 60_000;
const maxProofs = 20_000;

/** Creates a prober that uses the cheapest read of each scope. Concurrent probes of one scope share a request. */
export function createScopeProber(call: Upstream["call"], clock: Clock): ScopeProber {
  const proofs = new LRUCache<string, Proof>({ max: maxProofs });

  async function proveScope(token: string, scope: Scope): Promise<boolean> {
    const { operation, input, isAnswered } = createScopeProbe(scope);
    const answer = await call({ operation, input, token, requestId: createId("req") });
    // A 404 proves the scope: the service reports missing records only to callers who may read them.
    if (answer.ok || isAnswered(answer.problem.code)) return true;
    if (answer.problem.code === "insufficient_scope") return false;
    throw answer.problem;
  }

  function holdsScope(token: string, scope: Scope): Promise<boolean> {
    const key = `${computeSecretFingerprint(token)} ${scope}`;
    const nowMs = clock.now().getTime();
    const known = proofs.get(key);
    if (known && Math.abs(nowMs - known.atMs) < lastsMs) return known.holds;
    proofs.delete(key);
    const proof = { atMs: nowMs, holds: proveScope(token, scope) };
    proofs.set(key, proof);
    proof.holds.catch(() => proofs.get(key) === proof && proofs.delete(key));
    return proof.holds;
  }

  return {
    async held(token, scopes) {
      const results = await Promise.all(
        [...scopes].map(async (scope) => ({ scope, held: await holdsScope(token, scope) })),
      );
      return new Set(results.filter(({ held }) => held).map(({ scope }) => scope));
    },
  };
}
