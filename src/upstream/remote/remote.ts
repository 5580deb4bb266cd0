import { LRUCache } from "lru-cache";
import { shouldHideContacts } from "../../contract/access/privacy.ts";
import { isScope, type Scope, sensitiveScope } from "../../contract/access/scopes.ts";
import { tokenPattern, visibleTokenChars } from "../../contract/access/token-format.ts";
import { type InputParts, type Operation, splitInput } from "../../contract/definition/operation.ts";
import { Problem, problem } from "../../contract/errors.ts";
import {
  type CallName,
  isWorkflowName,
  operations,
  type WorkflowName,
  workflows as workflowDeclarations,
} from "../../contract/index.ts";
import type { PersonSchema } from "../../contract/persons.ts";
import type { Clock } from "../../lib/clock.ts";
import { computeSecretFingerprint } from "../../lib/crypto/fingerprint.ts";
import type { Log } from "../../lib/log.ts";
import type { Telemetry } from "../../lib/telemetry.ts";
import type { ConsumeConfirmations } from "../../pipeline/confirmation.ts";
import { toFailure } from "../../pipeline/failure.ts";
import { removePersonalAnswers } from "../../pipeline/personal-answers.ts";
import { runOnReader } from "../../pipeline/record-source.ts";
import { authorize, authorizeInput, confineScopes, requireScopes } from "../../pipeline/steps/authorize.ts";
import { checkIdempotencyKey } from "../../pipeline/steps/idempotency.ts";
import { createRedactor, getVisibleScopes } from "../../pipeline/steps/redact.ts";
import { validateInput } from "../../pipeline/steps/validate.ts";
import type { ReadRemote } from "../dry-run/dry-run-reads.ts";
import { computeRemoteDigest, dryRunRemotely } from "../dry-run/remote-dry-run.ts";
import type {
  Answer,
  Connection,
  ConsumedNonce,
  DryRunResult,
  Failure,
  Identity,
  Upstream,
  UpstreamAdmission,
  UpstreamCall,
  UpstreamCallHead,
  Watch,
  Watcher,
  WorkflowRunners,
} from "../port.ts";
import { withShownSearch } from "../privacy/shown-search.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { HttpClient } from "./http-client.ts";
import { createListCache, withListCache } from "./list-cache.ts";
import { withPersonsCursor } from "./persons-cursor.ts";
import { createRateThrottle, type RateThrottle } from "./rate-throttle.ts";
import { createRemoteReader } from "./record-reader.ts";
import { createRequester, type Request } from "./requester.ts";
import { createRetryPolicy } from "./retry-policy.ts";
import { createScopeCache, type ScopeCache } from "./scope-cache.ts";
import { createStandardFields, type StandardFields } from "./standard-fields.ts";
import type { Timeouts } from "./timeouts.ts";

export interface RemoteOptions {
  /** Base address of the product's service, without `/integrations/v1`. */
  readonly baseUrl: string;
  readonly client: HttpClient;
  /** Scopes of the token, if the operator configures them. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly requestsPerMinute: number;
  readonly exportIntervalSeconds: number;
  readonly timeouts: Timeouts;
  readonly circuitBreaker: CircuitBreaker;
  /** Consumes confirmations across processes, because the service knows nothing of them. */
  readonly consumeConfirmations: ConsumeConfirmations;
  readonly workflows: WorkflowRunners;
  readonly clock: Clock;
  readonly log: Log;
  readonly telemetry: Telemetry;
}

/** Creates the upstream of a remote service. Each call uses its caller's own token. */
export function createRemoteUpstream(options: RemoteOptions): Upstream {
  const remote = new Remote(options);
  return {
    admit: async (head) => remote.admit(head),
    check: async (call) => remote.check(call),
    call: (call) => remote.call(call),
    dryRun: (call) => remote.dryRun(call),
    identify: async (token) => remote.identify(token),
    describe: (call) => remote.describe(call),
    watch: async (token, watcher) => remote.watch(token, watcher),
  };
}

/** Returns the opaque name of the data that a token with this SHA-256 reaches at a service. */
export function getRealm(origin: string, sha256: string): string {
  return `${origin} ${sha256.slice(0, 32)}`;
}

type Holder = Pick<Identity, "realm" | "caller" | "holder">;

/** @throws Problem `invalid_token` for a text that does not have the form of a token */
function createTokenHolder(origin: string, token: string): Holder {
  if (!tokenPattern.test(token)) throw problem("invalid_token");
  const sha256 = computeSecretFingerprint(token);
  return { realm: getRealm(origin, sha256), caller: sha256, holder: { prefix: token.slice(0, visibleTokenChars) } };
}

/** Tokens in use at once, all held in memory. */
const maxHolders = 64;

class Remote {
  readonly #options: RemoteOptions;
  readonly #origin: string;
  readonly #throttle: RateThrottle;
  readonly #memory: ScopeCache;
  readonly #request: Request;
  readonly #requestPersons: Request;
  readonly #searchShown: Request;
  readonly #standardFields: StandardFields;
  readonly #lists = createListCache();
  readonly #holders = new LRUCache<string, Holder>({
    max: maxHolders,
    memoMethod: (token) => createTokenHolder(this.#origin, token),
  });

  constructor(options: RemoteOptions) {
    const { baseUrl, client, clock, timeouts, circuitBreaker, telemetry } = options;
    this.#options = options;
    this.#origin = new URL(baseUrl).origin;
    this.#throttle = createRateThrottle(clock, options.requestsPerMinute, options.exportIntervalSeconds);
    this.#memory = createScopeCache(clock, options.scopes);
    const retryPolicy = createRetryPolicy(circuitBreaker, timeouts);
    this.#request = createRequester({ baseUrl, client, retryPolicy, throttle: this.#throttle, telemetry });
    this.#requestPersons = withPersonsCursor(this.#request);
    this.#searchShown = withShownSearch(this.#request);
    this.#standardFields = createStandardFields(this.#request, clock);
  }

  identify(token: string | undefined): Identity {
    if (token === undefined || token === "") throw problem("unauthorized");
    const holder = this.#holders.memo(token);
    if (this.#memory.isRejected(token)) throw problem("invalid_token");
    return { scopes: this.#memory.scopesOf(token), ...holder };
  }

  /** Reads the one record that names the organisation, which also checks that the service accepts the token. */
  async describe({ token, requestId, signal }: Parameters<Upstream["describe"]>[0]): Promise<Connection> {
    this.identify(token);
    const answer = await this.call({ operation: "get_person_schema", input: {}, token, requestId, signal });
    const identity = this.identify(token);
    const known = answer.ok ? (answer.data as PersonSchema).businessId : undefined;
    const answered = answer.ok || ["not_found", "insufficient_scope"].includes(answer.problem.code);
    return {
      identity,
      upstream: this.#origin,
      token: { prefix: token?.slice(0, visibleTokenChars) ?? "" },
      business: typeof known === "string" ? { businessId: known } : undefined,
      scopesAre: this.#options.scopes ? "configured" : "supposed",
      rate: { ...this.#throttle.getRate(token ?? ""), windowSeconds: 60 },
      events: undefined,
      fault: answered ? undefined : answer.problem,
    };
  }

  /** Reports changes of scopes only. Changes of records arrive by webhooks. */
  watch(token: string | undefined, watcher: Watcher): Watch {
    this.identify(token);
    return this.#memory.watch(token ?? "", watcher);
  }

  /** Does not check the rate: only requests that are sent count, and the service logs them. */
  admit({ token }: UpstreamCallHead): UpstreamAdmission | Failure {
    try {
      return { ok: true, identity: this.identify(token), refuse: async () => undefined };
    } catch (error) {
      return toFailure(error);
    }
  }

  check({ operation, input }: UpstreamCall): Failure | undefined {
    return toFailureOf(() => void validateInput(operations[operation], splitInput(operations[operation], input)));
  }

  call(call: UpstreamCall): Promise<Answer> {
    return isWorkflowName(call.operation) ? this.#runWorkflow(call, call.operation) : this.#callOperation(call);
  }

  async #runWorkflow(call: UpstreamCall, name: WorkflowName): Promise<Answer> {
    const { workflows, clock } = this.#options;
    const { token, signal, progress } = call;
    try {
      this.identify(token);
      const { params, query } = this.#admitted(call);
      const workflowCall = { name, input: { ...params, ...query }, now: clock.now(), signal, progress };
      const scopes = this.#getVisibleScopes(call);
      const direct = createRemoteReader(call, scopes, (own) => this.#callOperation(own));
      const reader = workflowDeclarations[name].remembered
        ? withListCache(direct, this.#lists, this.#describeCaller(call))
        : direct;
      const data = await runOnReader(workflows, workflowCall, reader);
      return { ok: true, status: 200, data, replayed: false };
    } catch (error) {
      return this.#refused(error, call);
    }
  }

  /** Returns a text that is the same for calls that see the same rows. */
  #describeCaller({ token = "", within, privacy }: UpstreamCall): string {
    const scopes = confineScopes({ scopes: this.#memory.scopesOf(token) }, within).scopes;
    return JSON.stringify([this.identify(token).caller, privacy, [...scopes].sort()]);
  }

  async #callOperation(call: UpstreamCall): Promise<Answer> {
    const { operation: name, token = "", confirmed } = call;
    const operation = operations[name];
    try {
      const { realm } = this.identify(token);
      const parts = this.#admitted(call);
      if (name === "create_export") await this.#refuseHiddenFields(call);
      if (confirmed) await this.#settle(call, realm, confirmed);
      const { data, page, replayed } = await this.#requestOf(call)(call, operation, parts);
      if (operation.effect !== "read") this.#lists.clear();
      this.#memory.holds(token, operation.scope);
      if (operation.quota === "export" && !replayed) this.#throttle.recordExport(token);
      return {
        ok: true,
        status: operation.status ?? 200,
        data: await this.#redacted(operation, data, call),
        ...(page ? { page } : {}),
        replayed,
      };
    } catch (error) {
      return this.#refused(error, call);
    }
  }

  #requestOf({ operation, privacy }: UpstreamCall): Request {
    if (operation === "list_persons") return this.#requestPersons;
    return operation === "list_reviewers" && shouldHideContacts(privacy) ? this.#searchShown : this.#request;
  }

  async dryRun(call: UpstreamCall): Promise<DryRunResult | Failure> {
    try {
      this.identify(call.token);
      this.#admitted(call);
      return await dryRunRemotely(call.operation, this.#reader(call), call.input);
    } catch (error) {
      return this.#refused(error, call);
    }
  }

  /**
   * Returns the parts of a call that may be sent, in the form of the contract.
   * @throws Problem `validation_failed`; `export_rate_limited`; `insufficient_scope` when the operator configured
   * fewer scopes
   */
  #admitted(call: UpstreamCall): InputParts {
    const { operation: name, input, token = "", idempotencyKey } = call;
    const operation = operations[name];
    const given = this.#given(call);
    if (given) authorize(given, operation);
    const valid = validateInput(operation, splitInput(operation, input));
    if (given) authorizeInput(given, operation, valid);
    if (idempotencyKey !== undefined) checkIdempotencyKey(idempotencyKey);
    // With the caller's own idempotency key, the service may return an earlier answer.
    else if (operation.quota === "export") this.#throttle.checkExport(token);
    return splitInput(operation, valid);
  }

  /** Returns the scopes that the operator gave the token or the caller. Undefined if only the service limits them. */
  #given({ within }: UpstreamCall): { readonly scopes: ReadonlySet<Scope> } | undefined {
    const configured = this.#options.scopes;
    if (configured === undefined) return within && { scopes: within };
    return confineScopes({ scopes: new Set(configured) }, within);
  }

  /**
   * Refuses an export with fields that the operator hides from the caller. The service writes the file for the token,
   * so no redaction follows (specification 4.7).
   * @throws Problem `insufficient_scope`
   */
  async #refuseHiddenFields(call: UpstreamCall): Promise<void> {
    const given = this.#given(call);
    const { fieldIds = [] } = (call.input["persons"] ?? {}) as { fieldIds?: readonly string[] };
    if (!given || given.scopes.has(sensitiveScope) || fieldIds.length === 0) return;
    const standard = await this.#standardFields(call, fieldIds);
    if (!fieldIds.every((id) => standard.has(id))) requireScopes(given, [sensitiveScope]);
  }

  /** Returns the reads of a preview, redacted like all reads of the caller. */
  #reader({ token, requestId, signal, privacy, within }: UpstreamCall): ReadRemote {
    return async (name, input) => {
      const answer = await this.call({ operation: name, input, token, requestId, signal, privacy, within });
      if (!answer.ok) throw answer.problem;
      return { data: answer.data, ...answer.page };
    };
  }

  /**
   * Checks that the preview still holds right before the call, and consumes its confirmation. The service checks the
   * versions of records.
   */
  async #settle(call: UpstreamCall, realm: string, confirmed: ConsumedNonce): Promise<void> {
    const digest = await computeRemoteDigest(call.operation, this.#reader(call), call.input);
    if (digest !== confirmed.digest) throw problem("confirmation_stale");
    if (!(await this.#options.consumeConfirmations(realm, [confirmed]))) throw problem("confirmation_invalid");
  }

  #getVisibleScopes(call: UpstreamCall): ReadonlySet<Scope> {
    return getVisibleScopes(confineScopes({ scopes: this.#memory.scopesOf(call.token ?? "") }, call.within), call);
  }

  /** Redacts an answer for its caller. */
  async #redacted(operation: Operation, data: unknown, call: UpstreamCall): Promise<unknown> {
    const { privacy } = call;
    const scopes = this.#getVisibleScopes(call);
    const answered = await removePersonalAnswers(operation, data, { privacy, scopes }, (form, given) =>
      this.#standardFields(call, given, form),
    );
    const redactor = createRedactor(operation.data);
    if (!redactor) return answered;
    const given = scopes.has(sensitiveScope) ? [] : listCustomFieldIds(answered);
    const standardFieldIds = given.length === 0 ? new Set<string>() : await this.#standardFields(call, given);
    return redactor(answered, { scopes, standardFieldIds });
  }

  #refused(error: unknown, { token = "", requestId, operation, within }: UpstreamCall): Failure {
    if (!(error instanceof Problem)) {
      this.#options.log.error({ err: error, requestId }, "The upstream call failed");
      return { ok: false, problem: problem("internal_error", { requestId }) };
    }
    // Asking again with a token that was just refused does not extend the time of the refusal.
    const news = error.code === "invalid_token" && tokenPattern.test(token) && !this.#memory.isRejected(token);
    if (news) this.#memory.rejected(token);
    if (error.code === "insufficient_scope") {
      // A scope that the caller was not granted says nothing about the token.
      const missing = readMissingScopes(error, operation).filter((scope) => within?.has(scope) !== false);
      this.#memory.lacks(token, missing);
    }
    return { ok: false, problem: error };
  }
}

/** Returns the failure that the work throws, if any. */
function toFailureOf(work: () => void): Failure | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return toFailure(error);
  }
}

function readMissingScopes({ details }: Problem, name: CallName): readonly Scope[] {
  const named = details?.["requiredScopes"];
  return Array.isArray(named) ? named.map(String).filter(isScope) : [operations[name].scope];
}

/** Lists the ids of custom fields in persons and expansions. */
function listCustomFieldIds(data: unknown): readonly string[] {
  type Row = { readonly customFields?: object | null; readonly person?: Row | null } | null;
  const listFieldIds = (row: Row): readonly string[] =>
    Object.keys(row?.customFields ?? row?.person?.customFields ?? {});
  return [data as Row | readonly Row[]].flat().flatMap((row) => listFieldIds(row as Row));
}
