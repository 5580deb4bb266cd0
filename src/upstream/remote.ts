import { Problem, problem } from "../contract/errors.ts";
import { type OperationName, operations } from "../contract/index.ts";
import { type Operation, type Parts, partsOf } from "../contract/operation.ts";
import { isScope, type Scope, sensitiveScope } from "../contract/scopes.ts";
import { tokenPattern } from "../contract/tokens.ts";
import { authorize, authorizeInput } from "../gate/authorize.ts";
import { checkKey } from "../gate/once.ts";
import { redactorOf } from "../gate/redact.ts";
import { validate } from "../gate/validate.ts";
import type { Clock } from "../lib/clock.ts";
import { sha256Hex } from "../lib/crypto.ts";
import type { Log } from "../lib/log.ts";
import { createBreaker } from "./breaker.ts";
import type { HttpClient } from "./http-client.ts";
import { createPace, type Pace } from "./pace.ts";
import { createPatience } from "./patience.ts";
import { withPersonsCursor } from "./persons-cursor.ts";
import type { Answer, Confirmed, Failure, Identity, Rehearsal, Upstream, UpstreamCall } from "./port.ts";
import type { ReadRemote } from "./rehearse-reads.ts";
import { digestRemotely, rehearseRemotely } from "./remote-rehearsal.ts";
import { createRequester, type Request } from "./requester.ts";
import { createScopeMemory, type ScopeMemory } from "./scope-memory.ts";
import { createStandardFields, type StandardFields } from "./standard-fields.ts";
import type { Timeouts } from "./timeouts.ts";

export interface RemoteOptions {
  /** Base address of the product's service, without `/integrations/v1`. */
  readonly baseUrl: string;
  readonly client: HttpClient;
  /** Scopes of the token, where the operator names them. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly requestsPerMinute: number;
  readonly exportIntervalSeconds: number;
  readonly timeouts: Timeouts;
  /** Uses up a confirmation, across processes; false when it was used before. */
  readonly spend: (realm: string, confirmed: Confirmed) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The product's own service at a base address, answered for each caller with the caller's own token. */
export function createRemoteUpstream(options: RemoteOptions): Upstream {
  const remote = new Remote(options);
  return {
    call: (call) => remote.call(call),
    rehearse: (call) => remote.rehearse(call),
    identify: async (token) => remote.identify(token),
  };
}

class Remote {
  readonly #options: RemoteOptions;
  readonly #origin: string;
  readonly #pace: Pace;
  readonly #memory: ScopeMemory;
  readonly #request: Request;
  readonly #requestPersons: Request;
  readonly #standardFields: StandardFields;

  constructor(options: RemoteOptions) {
    const { baseUrl, client, clock, timeouts } = options;
    this.#options = options;
    this.#origin = new URL(baseUrl).origin;
    this.#pace = createPace(clock, options.requestsPerMinute, options.exportIntervalSeconds);
    this.#memory = createScopeMemory(clock, options.scopes);
    const patience = createPatience(createBreaker(clock), timeouts);
    this.#request = createRequester({ baseUrl, client, patience, pace: this.#pace });
    this.#requestPersons = withPersonsCursor(this.#request);
    this.#standardFields = createStandardFields(this.#request, clock);
  }

  identify(token: string | undefined): Identity {
    if (token === undefined || token === "") throw problem("unauthorized");
    if (!tokenPattern.test(token) || this.#memory.isRejected(token)) throw problem("invalid_token");
    return { scopes: this.#memory.scopesOf(token), realm: `${this.#origin} ${sha256Hex(token).slice(0, 32)}` };
  }

  async call(call: UpstreamCall): Promise<Answer> {
    const { operation: name, token = "", confirmed } = call;
    const operation = operations[name];
    try {
      const { realm } = this.identify(token);
      const parts = this.#admitted(call);
      if (confirmed) await this.#settle(call, realm, confirmed);
      const request = name === "list_persons" ? this.#requestPersons : this.#request;
      const { data, page, replayed } = await request(call, operation, parts);
      this.#memory.holds(token, operation.scope);
      if (operation.quota === "export" && !replayed) this.#pace.exported(token);
      return {
        ok: true,
        status: operation.status ?? 200,
        data: await this.#redacted(operation, data, call),
        ...(page ? { page } : {}),
        rate: { ...this.#pace.remaining(token), windowSeconds: 60 },
        replayed,
      };
    } catch (error) {
      return this.#refused(error, call);
    }
  }

  async rehearse(call: UpstreamCall): Promise<Rehearsal | Failure> {
    try {
      this.identify(call.token);
      this.#admitted(call);
      return await rehearseRemotely(call.operation, this.#reader(call), call.input);
    } catch (error) {
      return this.#refused(error, call);
    }
  }

  /**
   * The parts of a call, as the contract writes them, that may go out.
   * @throws Problem `validation_failed`; `export_rate_limited`; `insufficient_scope` where the operator gave fewer scopes
   */
  #admitted({ operation: name, input, token = "", idempotencyKey }: UpstreamCall): Parts {
    const operation = operations[name];
    const told = this.#options.scopes && { scopes: new Set(this.#options.scopes) };
    if (told) authorize(told, operation);
    const valid = validate(operation, partsOf(operation, input));
    if (told) authorizeInput(told, operation, valid);
    if (idempotencyKey !== undefined) checkKey(idempotencyKey);
    // Under its caller's own key a call may be one that was made before: the service gives its answer again.
    else if (operation.quota === "export") this.#pace.checkExport(token);
    return partsOf(operation, valid);
  }

  /** Reads for a preview: redacted like any read of the caller's. */
  #reader({ token, requestId, signal, strict }: UpstreamCall): ReadRemote {
    return async (name, input) => {
      const answer = await this.call({ operation: name, input, token, requestId, signal, strict });
      if (!answer.ok) throw answer.problem;
      return { data: answer.data, ...answer.page };
    };
  }

  /** The preview must hold right before the call, and counts once; what records' versions guard, the service refuses. */
  async #settle(call: UpstreamCall, realm: string, confirmed: Confirmed): Promise<void> {
    const digest = await digestRemotely(call.operation, this.#reader(call), call.input);
    if (digest !== confirmed.digest) throw problem("confirmation_stale");
    if (!(await this.#options.spend(realm, confirmed))) throw problem("confirmation_invalid");
  }

  async #redacted(operation: Operation, data: unknown, call: UpstreamCall): Promise<unknown> {
    const redactor = redactorOf(operation.data);
    if (!redactor) return data;
    const known = this.#memory.scopesOf(call.token ?? "");
    const scopes = call.strict ? new Set([...known].filter((scope) => scope !== sensitiveScope)) : known;
    const given = scopes.has(sensitiveScope) ? new Set<string>() : customFieldsIn(data);
    const standardFieldIds = given.size === 0 ? given : await this.#standardFields(call, given);
    return redactor(data, { scopes, standardFieldIds });
  }

  #refused(error: unknown, { token = "", requestId, operation }: UpstreamCall): Failure {
    if (!(error instanceof Problem)) {
      this.#options.log.error({ err: error, requestId }, "The upstream call failed");
      return { ok: false, problem: problem("internal_error", { requestId }) };
    }
    // Asking for a token that was refused a moment ago does not make that moment longer.
    const news = error.code === "invalid_token" && tokenPattern.test(token) && !this.#memory.isRejected(token);
    if (news) this.#memory.rejected(token);
    if (error.code === "insufficient_scope") this.#memory.lacks(token, missingScopes(error, operation));
    return { ok: false, problem: error };
  }
}

function missingScopes({ details }: Problem, name: OperationName): readonly Scope[] {
  const named = details?.["requiredScopes"];
  return Array.isArray(named) ? named.map(String).filter(isScope) : [operations[name].scope];
}

/** Ids of the custom fields in persons and expansions. */
function customFieldsIn(data: unknown): Set<string> {
  type Row = { readonly customFields?: object | null; readonly person?: Row | null } | null;
  const fieldsOf = (row: Row): readonly string[] => Object.keys(row?.customFields ?? row?.person?.customFields ?? {});
  return new Set([data as Row | readonly Row[]].flat().flatMap((row) => fieldsOf(row as Row)));
}
