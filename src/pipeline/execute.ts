import { isWorkflowName, operations } from "../contract/index.ts";
import type { Caller } from "../store/handler-context.ts";
import { createAccessLog } from "./audit/access-log.ts";
import { type AuditedCall, createAccessEntry } from "./audit/entries.ts";
import type { Answer, Call, Outcome, PipelineDeps, PreparedCall, RunnerDeps } from "./call.ts";
import { type DryRunResult, runDry } from "./dry-run.ts";
import { type Failure, toFailure, toProblem } from "./failure.ts";
import { createRateLimiter } from "./rate-limiter.ts";
import { type Admission, type Admitted, type CallHead, createAdmissionControl } from "./steps/admission.ts";
import { createAnswer } from "./steps/answer.ts";
import { authenticateMcp, confineToCurrentScopes } from "./steps/authenticate.ts";
import { prepareCall } from "./steps/prepare.ts";
import { runReadHandler } from "./steps/run-handler.ts";
import { runWorkflow } from "./steps/run-workflow.ts";
import { createCallScheduler } from "./steps/schedule.ts";
import { transact } from "./steps/transact.ts";
import { validateInput } from "./steps/validate.ts";
import { describeToken, type TokenDescription } from "./tokens/token-description.ts";

/** Runs operations. There is no other way into the service. */
export interface OperationPipeline {
  /** Answers a call; never throws. A refusal has a catalogue code, an unexpected error is `internal_error`. */
  execute(call: Call): Promise<Answer>;
  /**
   * Runs a call that writes and rolls it back. Leaves no record, event or audit entry.
   * @returns a failure if the call itself would be refused
   */
  dryRun(call: Call): Promise<DryRunResult | Failure>;
  /** Authenticates a call, unless its request was, and uses a permit, before its arguments are read. */
  admit(head: CallHead): Promise<Admission | Failure>;
  /** Returns the refusal of a call whose input is invalid. */
  check(call: Call): Failure | undefined;
  /**
   * Returns the caller of a token, without using its rate.
   * @throws Problem `unauthorized`, `invalid_token`
   */
  identify(token: string | undefined): Promise<Caller>;
  /**
   * Describes a caller's token, without using its rate.
   * @throws Problem `invalid_token`
   */
  describe(caller: Caller): Promise<TokenDescription>;
  /** Records a call that another service has answered for the caller. */
  recordCall(audited: AuditedCall, status: number): Promise<void>;
  /** Writes queued access entries. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** The path of every call. A step ends the call by throwing a `Problem`; each step is a file of this folder. */
export function createPipeline(deps: PipelineDeps): OperationPipeline {
  const { store, clock, log, options } = deps;
  const limiter = createRateLimiter(store, clock, options.requestsPerMinute);
  const accessLog = createAccessLog(store, log);
  const scheduler = createCallScheduler(options);
  const runnerDeps = { ...deps, isShared: scheduler.isShared };
  const admissions = createAdmissionControl({ store, clock, log, limiter, accessLog });

  async function execute(call: Call): Promise<Answer> {
    const admitted = await limit(call);
    if ("ok" in admitted) return admitted;
    try {
      await scheduler.waitToBegin(admitted.caller.businessId);
      const prepared = await prepareCall(call, await renew(deps, call, admitted), clock);
      const { outcome, answer } = await scheduler.run(prepared, async () => {
        const outcome = await chooseRunner(prepared)(runnerDeps, prepared);
        return { outcome, answer: await createAnswer(store, prepared, outcome, admitted.rate) };
      });
      // Changes have their audit entries in their own transaction.
      if (!outcome.changed) await accessLog.record(createAccessEntry(prepared, getStatus(answer), outcome.replayed));
      return answer;
    } catch (error) {
      return refuse(call, admitted, error);
    }
  }

  async function dryRun(call: Call): Promise<DryRunResult | Failure> {
    const admitted = await limit(call);
    if ("ok" in admitted) return admitted;
    try {
      await scheduler.waitToBegin(admitted.caller.businessId);
      const prepared = await prepareCall(call, admitted, clock);
      return await scheduler.run(prepared, () => runDry(deps, prepared));
    } catch (error) {
      return refuse(call, admitted, error);
    }
  }

  async function limit(call: Call): Promise<Admitted | Failure> {
    const { params } = call.parts;
    const admission = call.admission ?? (await admissions.admit(call, params));
    return admission.ok ? admission.use(params) : admission;
  }

  async function refuse(call: Call, { caller, rate }: Admitted, error: unknown): Promise<Failure> {
    const refusal = toProblem(error, call, log);
    await admissions.recordRefusal(call, caller, refusal, call.parts.params);
    return { ok: false, problem: refusal, rate, caller: caller.tokenId };
  }

  return {
    execute,
    dryRun,
    admit: admissions.admit,
    check,
    identify: (token) => authenticateMcp(store, clock, token, options.publicUrl),
    describe: (caller) => describeToken(store, limiter, caller),
    recordCall: (audited, status) => accessLog.record(createAccessEntry(audited, status)),
    flush: () => accessLog.flush(),
    async close() {
      await limiter.close().catch((error: unknown) => log.warn({ err: error }, "Unused rate permits are not returned"));
      await accessLog.close();
    },
  };
}

/** A person may take minutes to answer a question. In this time, the caller of the waiting call may lose rights. */
async function renew({ store, clock }: PipelineDeps, { confirmed }: Call, admitted: Admitted): Promise<Admitted> {
  if (!confirmed) return admitted;
  return { ...admitted, caller: await confineToCurrentScopes(store, admitted.caller, clock.now()) };
}

function chooseRunner({ name, operation }: PreparedCall): (deps: RunnerDeps, call: PreparedCall) => Promise<Outcome> {
  if (isWorkflowName(name)) return runWorkflow;
  return operation.effect === "read" ? runReadHandler : transact;
}

function check({ operation, parts }: Call): Failure | undefined {
  try {
    validateInput(operations[operation], parts);
    return undefined;
  } catch (error) {
    return toFailure(error);
  }
}

function getStatus(answer: Answer): number {
  return answer.ok ? answer.status : answer.problem.status;
}
