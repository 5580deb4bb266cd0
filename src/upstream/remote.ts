import { Problem, problem } from "../contract/errors.ts";
import { operations } from "../contract/index.ts";
import { type Operation, partsOf } from "../contract/operation.ts";
import { isScope, type Scope, sensitiveScope } from "../contract/scopes.ts";
import { tokenPattern } from "../contract/tokens.ts";
import { redactorOf } from "../gate/redact.ts";
import { validate } from "../gate/validate.ts";
import type { Clock } from "../lib/clock.ts";
import { sha256Hex } from "../lib/crypto.ts";
import type { Log } from "../lib/log.ts";
import { createBreaker } from "./breaker.ts";
import type { HttpClient } from "./http-client.ts";
import { createPace, type Pace } from "./pace.ts";
import type { Answer, Confirmed, Failure, Identity, Rehearsal, Upstream, UpstreamCall } from "./port.ts";
import { type ReadRemote, rehearseRemotely } from "./remote-rehearsal.ts";
import { createRequester, type Request, withPersonsCursor } from "./requester.ts";
import { createScopeMemory, type ScopeMemory } from "./scope-memory.ts";
import { createStandardFields } from "./standard-fields.ts";

export interface RemoteOptions {
  /** Base address of the product's service, without `/integrations/v1`. */
  readonly baseUrl: string;
  readonly client: HttpClient;
  /** Scopes of the token, where the operator names them. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly requestsPerMinute: number;
  readonly exportIntervalSeconds: number;
  /** Uses up a confirmation, across processes; false when it was used before. */
  readonly spend: (realm: string, confirmed: Confirmed) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The product's own service at a base address, answered for each caller with the caller's own token. */
export function createRemoteUpstream(options: RemoteOptions): Upstream {
  const { baseUrl, client, clock } = options;
  const pace = createPace(clock, options.requestsPerMinute, options.exportIntervalSeconds);
  const request = createRequester({ baseUrl, client, breaker: createBreaker(clock), pace });
  const memory = createScopeMemory(clock, options.scopes);
  const { origin } = new URL(baseUrl);
  const remote = new Remote(options, origin, pace, memory, request);
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
  readonly #standardFields: ReturnType<typeof createStandardFields>;

  constructor(options: RemoteOptions, origin: string, pace: Pace, memory: ScopeMemory, request: Request) {
    this.#options = options;
    this.#origin = origin;
    this.#pace = pace;
    this.#memory = memory;
    this.#request = request;
    this.#requestPersons = withPersonsCursor(request);
    this.#standardFields = createStandardFields(request, options.clock);
  }

  identify(token: string | undefined): Identity {
    if (token === undefined || token === "") throw problem("unauthorized");
    if (!tokenPattern.test(token) || this.#memory.isRejected(token)) throw problem("invalid_token");
    return { scopes: this.#memory.scopesOf(token), realm: `${this.#origin} ${sha256Hex(token).slice(0, 32)}` };
  }

  async call(call: UpstreamCall): Promise<Answer> {
    const { operation: name, token = "", input, confirmed } = call;
    const operation = operations[name];
    try {
      const { realm } = this.identify(token);
      const parts = partsOf(operation, input);
      validate(operation, parts);
      if (confirmed) await this.#settle(call, realm, confirmed);
      if (operation.quota === "export") this.#refuseEarlyExport(token);
      const send = name === "list_persons" ? this.#requestPersons : this.#request;
      const { data, page } = await send(call, operation, parts);
      if (operation.quota === "export") this.#pace.exportCreated(token);
      const rate = { ...this.#pace.remaining(token), windowSeconds: 60 };
      const shown = await this.#redacted(operation, data, call);
      return {
        ok: true,
        status: operation.status ?? 200,
        data: shown,
        ...(page ? { page } : {}),
        rate,
        replayed: false,
      };
    } catch (error) {
      return this.#refused(error, call);
    }
  }

  async rehearse(call: UpstreamCall): Promise<Rehearsal | Failure> {
    const { operation: name, input, token } = call;
    try {
      this.identify(token);
      validate(operations[name], partsOf(operations[name], input));
      if (operations[name].quota === "export") this.#refuseEarlyExport(token ?? "");
      return await rehearseRemotely(name, this.#reader(call), input);
    } catch (error) {
      return this.#refused(error, call);
    }
  }

  /** Reads for a preview: redacted like any read of the caller's. */
  #reader({ token, requestId, signal, strict }: UpstreamCall): ReadRemote {
    return async (name, input) => {
      const answer = await this.call({ operation: name, input, token, requestId, signal, strict });
      if (!answer.ok) throw answer.problem;
      return answer.data;
    };
  }

  /** The preview must hold right before the call, and counts once; what records' versions guard, the service refuses. */
  async #settle(call: UpstreamCall, realm: string, confirmed: Confirmed): Promise<void> {
    const { digest } = await rehearseRemotely(call.operation, this.#reader(call), call.input);
    if (digest !== confirmed.digest) throw problem("confirmation_stale");
    if (!(await this.#options.spend(realm, confirmed))) throw problem("confirmation_invalid");
  }

  #refuseEarlyExport(token: string): void {
    const retryAfterSeconds = this.#pace.exportWaitSeconds(token);
    if (retryAfterSeconds > 0) throw problem("export_rate_limited", { retryAfterSeconds });
  }

  async #redacted(operation: Operation, data: unknown, call: UpstreamCall): Promise<unknown> {
    const redactor = redactorOf(operation.data);
    if (!redactor) return data;
    const known = this.#memory.scopesOf(call.token ?? "");
    const scopes = call.strict ? new Set([...known].filter((scope) => scope !== sensitiveScope)) : known;
    const standardFieldIds = scopes.has(sensitiveScope) ? new Set<string>() : await this.#standardFields(call);
    return redactor(data, { scopes, standardFieldIds });
  }

  #refused(error: unknown, { token = "", requestId, operation }: UpstreamCall): Failure {
    if (!(error instanceof Problem)) {
      this.#options.log.error({ err: error, requestId }, "The upstream call failed");
      return { ok: false, problem: problem("internal_error", { requestId }) };
    }
    if (error.code === "invalid_token" && tokenPattern.test(token)) this.#memory.rejected(token);
    if (error.code === "insufficient_scope") {
      const named = error.details?.["requiredScopes"];
      this.#memory.lacks(
        token,
        Array.isArray(named) ? named.map(String).filter(isScope) : [operations[operation].scope],
      );
    }
    return { ok: false, problem: error };
  }
}
