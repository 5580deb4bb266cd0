import type { InputParts, Operation, PageOf } from "../contract/definition/operation.ts";
import type { PageMeta } from "../contract/definition/page.ts";
import { Problem, problem } from "../contract/errors.ts";
import { type CallName, operations } from "../contract/index.ts";
import { type Privacy, shouldHideContacts } from "../contract/privacy.ts";
import { type Scope, withoutSensitive } from "../contract/scopes.ts";
import type { Token } from "../contract/tokens.ts";
import type { Clock } from "../lib/clock.ts";
import { createId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { Caller, HandlerContext, Handlers, Links, ReadWork, WriteWork } from "../store/handler-context.ts";
import type { Actor, Business, ConsumedNonce, GateTransaction, Store } from "../store/port.ts";
import { type AccessLog, createAccessLog } from "./access-log.ts";
import { type Admission, type CallHead, createEntrance } from "./admission.ts";
import { type AuditedCall, createAccessEntry, toAuditContext } from "./audit.ts";
import { authenticate } from "./authenticate.ts";
import { authorize, authorizeInput, confineScopes, requireScopes } from "./authorize.ts";
import { computeChangeDigest, createDryRunLinks, type DryRunResult, loadLabels, RollbackSignal } from "./dry-run.ts";
import { type Failure, toFailure, toProblem } from "./failure.ts";
import { checkIdempotencyKey, computeFingerprint, type IdempotentResult, runIdempotently } from "./idempotency.ts";
import { createStandardFieldReader, withoutPersonalAnswers } from "./personal-answers.ts";
import { createRateLimiter, type Rate, type RateLimiter } from "./rate-limiter.ts";
import { createRedactor, loadView } from "./redact.ts";
import { validateInput } from "./validate.ts";
import { withAudit } from "./with-audit.ts";

export interface PipelineOptions {
  readonly requestsPerMinute: number;
  readonly exportIntervalSeconds: number;
  readonly idempotencyStrict: boolean;
}

export interface PipelineDeps {
  readonly store: Store;
  readonly handlers: Handlers;
  readonly links: Links;
  readonly clock: Clock;
  readonly log: Log;
  readonly options: PipelineOptions;
}

/** One request, whichever face it came in by. */
export interface Call {
  readonly operation: CallName;
  /** The bearer token, if one was given. */
  readonly token: string | undefined;
  readonly parts: InputParts;
  /**
   * Reads the body, in place of that in `parts`: not before the caller may call at all.
   * @throws Problem for a body that cannot be read
   */
  readonly readBody?: (() => Promise<unknown>) | undefined;
  /** How the call was let in, where that was before its arguments were looked at. */
  readonly admission?: Admission | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly requestId: string;
  /** The preview that was agreed to: the call applies only while it would still do the same, and once. */
  readonly confirmed?: ConsumedNonce | undefined;
  /** What agents see of people; absent for callers who are none. */
  readonly privacy?: Privacy | undefined;
  /** The call may use no more than these of its token's scopes. */
  readonly within?: ReadonlySet<Scope> | undefined;
}

export interface Success {
  readonly ok: true;
  readonly status: number;
  readonly data: unknown;
  readonly page?: PageMeta;
  /** Absent where the call used up nothing of it. */
  readonly rate?: Rate;
  readonly replayed: boolean;
  /** The id of the token that called; of the product's own service it is not known. */
  readonly caller?: string | undefined;
}

export type Answer = Success | Failure;

/** The only door to the service. */
export interface OperationPipeline {
  /** Answers a call; never throws. Refusals carry a catalogue code, anything unforeseen is `internal_error`. */
  execute(call: Call): Promise<Answer>;
  /**
   * Runs a call that writes and undoes it: what would happen, exactly. Leaves no record, event or audit entry.
   * @returns a failure where the call itself would be refused
   */
  dryRun(call: Call): Promise<DryRunResult | Failure>;
  /** Lets a call in by its token alone, before anything that grows with its arguments: its permit is used. */
  admit(head: CallHead): Promise<Admission | Failure>;
  /** Why a call that was let in would be refused for what it says; nothing where it fits. */
  check(call: Call): Failure | undefined;
  /**
   * Who a token is, without using up its rate.
   * @throws Problem `unauthorized`, `invalid_token`
   */
  identify(token: string | undefined): Promise<Caller>;
  /**
   * What there is to say of a token, without using up its rate.
   * @throws Problem `unauthorized`, `invalid_token`
   */
  describe(token: string | undefined): Promise<DescribedCall>;
  /** Writes what is still to be recorded. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** A token, the organisation it is of, and what is left of its rate. */
export interface DescribedCall {
  readonly token: Pick<Token, "tokenId" | "name" | "prefix" | "expiresAt">;
  readonly business: Pick<Business, "businessId" | "name">;
  readonly rate: Rate;
}

type AnyHandler = (work: ReadWork | WriteWork, input: Readonly<Record<string, unknown>>) => Promise<unknown>;

interface Running extends AuditedCall {
  readonly name: CallName;
  readonly operation: Operation;
  readonly call: Call;
}

export function createPipeline(deps: PipelineDeps): OperationPipeline {
  const { store, clock, log, options } = deps;
  const limiter: RateLimiter = createRateLimiter(store, clock, options.requestsPerMinute);
  const accessLog: AccessLog = createAccessLog(store, log);
  const entrance = createEntrance({ store, clock, log, limiter, accessLog });

  /** Lets a call in and does `work` with it; refusals become answers. */
  async function answered<R>(call: Call, work: (running: Running, rate: Rate) => Promise<R>): Promise<R | Failure> {
    const entered = call.admission?.take() ?? (await entrance.enter(call, call.parts.params));
    if ("ok" in entered) return entered;
    const [caller, rate] = [confineScopes(entered.caller, call.within), entered.rate];
    try {
      const operation = operations[call.operation];
      authorize(caller, operation);
      const parts = call.readBody ? { ...call.parts, body: await call.readBody() } : call.parts;
      const input = validateInput(operation, parts);
      authorizeInput(caller, operation, input);
      const { requestId, operation: name } = call;
      return await work(
        { caller, operation, requestId, input, now: clock.now(), name, call: { ...call, parts } },
        rate,
      );
    } catch (error) {
      const refusal = toProblem(error, call, log);
      await entrance.recordRefusal(call, caller, refusal, call.parts.params);
      return { ok: false, problem: refusal, rate, caller: caller.tokenId };
    }
  }

  function execute(call: Call): Promise<Answer> {
    return answered(call, async (running, rate) => {
      const outcome = running.operation.effect === "read" ? await read(deps, running) : await write(deps, running);
      const { result, replayed, changed } = outcome;
      // A refusal remembered with its key committed; it is still a refusal.
      const refusal = result instanceof Problem ? result : undefined;
      const answer = refusal
        ? ({ ok: false, problem: refusal, rate, replayed, caller: running.caller.tokenId } as const)
        : await presentResult(store, running, outcome, rate);
      if (!changed)
        await accessLog.record(createAccessEntry(running, answer.ok ? answer.status : answer.problem.status));
      return answer;
    });
  }

  function dryRun(call: Call): Promise<DryRunResult | Failure> {
    return answered(call, async (running) => {
      try {
        return await store.transaction(toActor(running), async (transaction) => {
          const data = await change({ ...deps, links: createDryRunLinks(deps.links) }, running, transaction);
          const { changes } = transaction;
          const labels = await loadLabels(transaction, running.caller.scopes, changes);
          throw new RollbackSignal({
            ok: true,
            changes: [...changes],
            data,
            labels,
            digest: computeChangeDigest(changes),
          });
        });
      } catch (error) {
        if (error instanceof RollbackSignal) return error.dryRunResult;
        throw error;
      }
    });
  }

  return {
    execute,
    dryRun,
    admit: entrance.admit,
    check,
    identify: (token) => authenticate(store, clock, token),
    describe: async (token) => describe(deps, limiter, await authenticate(store, clock, token)),
    flush: () => accessLog.flush(),
    close: () => accessLog.close(),
  };
}

function check({ operation: name, parts }: Call): Failure | undefined {
  try {
    validateInput(operations[name], parts);
    return undefined;
  } catch (error) {
    return toFailure(error);
  }
}

async function describe(
  { store }: PipelineDeps,
  limiter: RateLimiter,
  { tokenId, businessId }: Caller,
): Promise<DescribedCall> {
  const token = await store.getToken(tokenId);
  const business = (await store.listBusinesses()).find((each) => each.businessId === businessId);
  if (!token || !business) throw problem("invalid_token");
  return { token, business, rate: await limiter.peek(tokenId) };
}

interface Outcome extends IdempotentResult {
  /** Whether records changed: then their audit entries are in the same transaction. */
  readonly changed: boolean;
}

async function read(deps: PipelineDeps, running: Running): Promise<Outcome> {
  const handler = deps.handlers[running.name] as AnyHandler;
  const reader = deps.store.reader(running.caller.businessId);
  const result = await handler({ ...createHandlerContext(deps, running), store: reader }, running.input);
  return { result, replayed: false, changed: false };
}

async function write(deps: PipelineDeps, running: Running): Promise<Outcome> {
  const { caller, now, call, operation } = running;
  const { idempotencyKey } = call;
  if (idempotencyKey !== undefined) checkIdempotencyKey(idempotencyKey);
  return deps.store.transaction(toActor(running), async (transaction) => {
    const apply = () => change(deps, running, transaction);
    const { result, replayed } =
      idempotencyKey === undefined
        ? { result: await apply(), replayed: false }
        : await runIdempotently(
            transaction,
            caller.tokenId,
            {
              key: idempotencyKey,
              fingerprint: computeFingerprint(caller, idempotencyKey, operation, call.parts),
              strict: deps.options.idempotencyStrict,
              now,
            },
            apply,
          );
    return { result, replayed, changed: transaction.changes.length > 0 };
  });
}

function toActor({ caller, now }: Running): Actor {
  return { businessId: caller.businessId, actorId: caller.tokenId, now: now.toISOString() };
}

/** The handler with its quota, events and audit entries: all of one transaction. */
async function change(deps: PipelineDeps, running: Running, transaction: GateTransaction): Promise<unknown> {
  const { operation, caller } = running;
  const { quota } = operation;
  if (quota) await checkQuota(deps, running, transaction, quota);
  return withAudit(transaction, toAuditContext(running), async (emit) => {
    const handler = deps.handlers[running.name] as AnyHandler;
    const result = await handler({ ...createHandlerContext(deps, running), store: transaction, emit }, running.input);
    if (running.call.confirmed) await settleConfirmation(transaction, running.call.confirmed);
    if (quota) await transaction.useQuota(caller.tokenId, quota);
    return result;
  });
}

/** Of what was agreed to, exactly that is done, and once: in the transaction that does it. */
async function settleConfirmation(transaction: GateTransaction, confirmed: ConsumedNonce): Promise<void> {
  if (computeChangeDigest(transaction.changes) !== confirmed.digest) throw problem("confirmation_stale");
  if (!(await transaction.consumeNonce(confirmed.nonce, confirmed.expiresAt))) throw problem("confirmation_invalid");
}

async function checkQuota(deps: PipelineDeps, { caller, now }: Running, transaction: GateTransaction, quota: string) {
  // Without an interval those that run at once must not refuse each other, whichever began first.
  if (deps.options.exportIntervalSeconds === 0) return;
  const lastUse = await transaction.lastQuotaUse(caller.tokenId, quota);
  if (lastUse === undefined) return;
  const freeAtMs = Date.parse(lastUse) + deps.options.exportIntervalSeconds * 1000;
  const retryAfterSeconds = Math.ceil((freeAtMs - now.getTime()) / 1000);
  if (retryAfterSeconds > 0) throw problem("export_rate_limited", { retryAfterSeconds });
}

function createHandlerContext({ links }: PipelineDeps, { caller, now, call }: Running): HandlerContext {
  return {
    caller,
    links,
    privacy: call.privacy,
    hidesContacts: shouldHideContacts(call.privacy),
    now: now.toISOString(),
    newId: createId,
    requireScopes: (...scopes) => requireScopes(caller, scopes),
  };
}

async function presentResult(store: Store, running: Running, outcome: Outcome, rate: Rate): Promise<Success> {
  const { operation, caller } = running;
  const { rows, lastEvaluatedKey } = operation.paginated ? (outcome.result as PageOf<unknown>) : {};
  const shown = running.call.privacy === "redact" ? { ...caller, scopes: withoutSensitive(caller.scopes) } : caller;
  const result = operation.paginated ? rows : outcome.result;
  const { scopes } = shown;
  const answers = createStandardFieldReader(store.reader(caller.businessId));
  const answered = await withoutPersonalAnswers(operation, result, { privacy: running.call.privacy, scopes }, answers);
  const data = await redact(store, shown, operation, answered);
  return {
    ok: true,
    status: operation.status ?? 200,
    data,
    rate,
    replayed: outcome.replayed,
    caller: caller.tokenId,
    ...(operation.paginated
      ? { page: lastEvaluatedKey === undefined ? { hasMore: false } : { hasMore: true, lastEvaluatedKey } }
      : {}),
  };
}

async function redact(store: Store, caller: Caller, operation: Operation, data: unknown): Promise<unknown> {
  const redactor = createRedactor(operation.data);
  if (!redactor) return data;
  return redactor(data, await loadView(store.reader(caller.businessId), caller.scopes));
}
