import type { Scope } from "../contract/access/scopes.ts";
import { Problem, problem } from "../contract/errors.ts";
import { hashSha256Hex } from "../lib/crypto/crypto.ts";
import type { Log } from "../lib/log.ts";
import { toFailure } from "../pipeline/failure.ts";
import type { AppCaller } from "../pipeline/steps/authenticate.ts";
import { confineScopes } from "../pipeline/steps/authorize.ts";
import type {
  Failure,
  Identity,
  RequestCaller,
  Upstream,
  UpstreamAdmission,
  UpstreamCall,
  UpstreamCallHead,
  Watch,
  Watcher,
} from "./port.ts";

/** The identity with which a caller's calls run. */
export interface Grant {
  /** The caller's opaque name. It stays the same when the caller renews its credential. */
  readonly caller: string;
  /** The caller's name in the operator's log, without personal data. */
  readonly name: string;
  /** The product token. It never leaves this process. Undefined if there is none, as `refusal` says. */
  readonly token: string | undefined;
  /** The answer of calls without a usable product token. Absent: the operator is to replace it. */
  readonly refusal?: Problem | undefined;
  /** The connected app behind the credential. Its calls are audited here, too. */
  readonly app?: AppCaller | undefined;
  /** Limits the token's scopes. Absent: all of them. */
  readonly scopes?: ReadonlySet<Scope> | undefined;
  /** The scopes that the caller can obtain with a new credential. Absent if a new credential has the same scopes. */
  readonly attainable?: ReadonlySet<Scope> | undefined;
}

/**
 * Returns the grant of a presented credential.
 * @throws Problem `unauthorized`, `invalid_token`, `gateway_not_admitted`; `unavailable` when it cannot be checked now
 */
export type ResolveGrant = (presented: string | undefined) => Promise<Grant>;

export interface GatewayUpstreamDeps {
  readonly log: Log;
  /** Records a call of a connected app, with the status of its answer. */
  readonly recordCall?: ((app: AppCaller, call: UpstreamCall, status: number) => Promise<void>) | undefined;
}

/** The grants of identified callers. */
const grants = new WeakMap<Identity, Grant>();

/**
 * Wraps an upstream for callers without a product token. Their credential is replaced by a product token, with no more
 * scopes than the caller was granted. Layers above see only the presented credential.
 */
export function createGatewayUpstream(
  upstream: Upstream,
  grantOf: ResolveGrant,
  { log, recordCall }: GatewayUpstreamDeps,
): Upstream {
  const maskRefusal = createRefusalMask(log);

  async function identifyCaller(presented: string | undefined): Promise<Identity> {
    const grant = await grantOf(presented);
    try {
      return toGrantedIdentity(await upstream.identify(grant.token), grant);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { scopes = new Set(), caller, refusal } = grant;
      if (!refusal || error.status !== 401) throw maskRefusal(error, grant);
      // A caller with its own reason for the refusal learns it from the answer of its calls.
      return toGrantedIdentity({ scopes, realm: caller, caller }, grant);
    }
  }

  async function runWithGrant<R extends { readonly ok: true }>(
    call: UpstreamCall,
    work: (call: UpstreamCall) => Promise<R | Failure>,
  ): Promise<R | Failure> {
    try {
      const grant = await getGrant(grantOf, call);
      const answer = await work(callAs(grant, call));
      const { operation, requestId } = call;
      const outcome = answer.ok ? "ok" : answer.problem.code;
      // The service's own audit names the product token, which several callers may share.
      log.info({ caller: grant.name, operation, requestId, outcome }, "A caller was answered");
      const masked = answer.ok ? answer : { ...answer, problem: maskRefusal(answer.problem, grant) };
      if (grant.app) await recordCall?.(grant.app, call, masked.ok ? 200 : masked.problem.status);
      return masked;
    } catch (error) {
      return toFailure(error);
    }
  }

  async function admit(head: UpstreamCallHead): Promise<UpstreamAdmission | Failure> {
    try {
      const grant = await getGrant(grantOf, head);
      const answer = await upstream.admit({ ...head, token: grant.token });
      if (!answer.ok) return { ...answer, problem: maskRefusal(answer.problem, grant) };
      return { ...answer, identity: toGrantedIdentity(answer.identity, grant) };
    } catch (error) {
      return toFailure(error);
    }
  }

  const { watch, watchesRecords = false } = upstream;
  return {
    admit,
    check: (call) => upstream.check(call),
    call: (call) => runWithGrant(call, (own) => upstream.call(own)),
    dryRun: (call) => runWithGrant(call, (own) => upstream.dryRun(own)),
    identify: identifyCaller,
    describe: createDescription(upstream, grantOf, maskRefusal),
    ...(watch ? { watch: (presented, watcher) => watchWithGrant(watch, grantOf, presented, watcher) } : {}),
    watchesRecords,
  };
}

/** Describes the connection of a caller. Shows nothing of the product token, not even its prefix. */
function createDescription(
  upstream: Upstream,
  grantOf: ResolveGrant,
  maskRefusal: ReturnType<typeof createRefusalMask>,
): Upstream["describe"] {
  return async (call) => {
    const grant = await getGrant(grantOf, call);
    const { token, name } = grant;
    try {
      const connection = await upstream.describe({ ...call, token });
      const fault = connection.fault && maskRefusal(connection.fault, grant);
      return { ...connection, identity: toGrantedIdentity(connection.identity, grant), token: { name }, fault };
    } catch (error) {
      throw error instanceof Problem ? maskRefusal(error, grant) : error;
    }
  };
}

/** Hides that the product token was refused, because that says nothing about the presented credential. */
function createRefusalMask(log: Log) {
  return (refused: Problem, { name, refusal }: Pick<Grant, "name" | "refusal">): Problem => {
    if (refused.status !== 401) return refused;
    if (refusal) return refusal;
    log.error({ caller: name }, "The service refuses the product token behind this caller");
    return problem("gateway_token_refused");
  };
}

/** Returns the grant of an identified caller. Looks up what any other caller presents. */
async function getGrant(grantOf: ResolveGrant, { token, identity }: RequestCaller): Promise<Grant> {
  return (identity && grants.get(identity)) ?? (await grantOf(token));
}

/** Restricts the identity of the product token to what the grant allows. */
function toGrantedIdentity(identity: Identity, grant: Grant): Identity {
  const { caller, name, scopes, attainable, app } = grant;
  const further = attainable && { attainable: identity.scopes.intersection(attainable) };
  const holder = app ? { name, tokenId: app.tokenId } : { name };
  const granted = { ...confineScopes(identity, scopes), caller, holder, ...further };
  grants.set(granted, grant);
  return granted;
}

function callAs({ token, scopes, caller }: Grant, call: UpstreamCall): UpstreamCall {
  const { idempotencyKey } = call;
  return {
    ...call,
    token,
    within: scopes,
    // The service stores idempotency keys by token. Callers that share a token must not get each other's answers.
    ...(idempotencyKey === undefined
      ? {}
      : { idempotencyKey: hashSha256Hex(JSON.stringify([caller, idempotencyKey])) }),
  };
}

/** Interval of checks whether a watcher's credential is still valid. */
const checkMs = 1_000;

/** Watches with the product token, and forwards changes within the grant while the credential is valid. */
async function watchWithGrant(
  watch: NonNullable<Upstream["watch"]>,
  grantOf: ResolveGrant,
  presented: string | undefined,
  watcher: Watcher,
): Promise<Watch> {
  let grant = await grantOf(presented);
  if (grant.token === undefined) throw grant.refusal ?? problem("gateway_token_refused");
  let ofToken: ReadonlySet<Scope> = new Set();
  let shown: ReadonlySet<Scope> = new Set();
  let timer: NodeJS.Timeout | undefined;

  function updateScopes(): void {
    const scopes = ofToken.intersection(grant.scopes ?? ofToken);
    if (scopes.symmetricDifference(shown).size === 0) return;
    shown = scopes;
    watcher.rescoped(scopes);
  }

  const inner = await watch(grant.token, {
    changed: (changes) => watcher.changed(changes),
    rescoped(scopes) {
      ofToken = scopes;
      updateScopes();
    },
    ended() {
      clearInterval(timer);
      watcher.ended();
    },
  });
  ofToken = inner.scopes;
  shown = ofToken.intersection(grant.scopes ?? ofToken);

  function stop(): void {
    clearInterval(timer);
    inner.stop();
  }

  async function check(): Promise<void> {
    try {
      const renewed = await grantOf(presented);
      if (renewed.token !== grant.token) throw problem("invalid_token");
      grant = renewed;
      updateScopes();
    } catch (error) {
      // Only a refusal ends the watch. An issuer that cannot be reached has not refused anything.
      if (!(error instanceof Problem) || error.status >= 500) return;
      stop();
      watcher.ended();
    }
  }
  timer = setInterval(() => void check(), checkMs);
  timer.unref();
  return { ...inner, scopes: shown, stop };
}
