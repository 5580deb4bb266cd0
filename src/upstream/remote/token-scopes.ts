import { readScopes, type Scope } from "../../contract/access/scopes.ts";
import type { Clock } from "../../lib/clock.ts";
import { createId } from "../../lib/ids.ts";
import type { Upstream } from "../port.ts";
import { createScopeProber } from "./scope-prober.ts";

/**
 * Returns the scopes with which the service accepts a token. Scopes for reading are tried; the others are supposed, for
 * trying them would change something.
 * @throws Problem `invalid_token`, `rate_limited`, `upstream_*`
 */
export async function findTokenScopes(upstream: Upstream, clock: Clock, token: string): Promise<ReadonlySet<Scope>> {
  // One request first, because none of the others helps with a token that the service refuses.
  const { fault } = await upstream.describe({ token, requestId: createId("req") });
  if (fault) throw fault;
  const read = await createScopeProber(upstream.call, clock).held(token, readScopes);
  const { scopes } = await upstream.identify(token);
  return new Set([...scopes].filter((scope) => read.has(scope) || !(readScopes as readonly Scope[]).includes(scope)));
}
