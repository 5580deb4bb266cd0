import { limits } from "../contract/access/limits.ts";
import { createId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { LogOnce } from "../lib/log-once.ts";
import { succeeded, type Telemetry, unwatched } from "../lib/telemetry.ts";
import { combineWorkerStates, createLoop, type Worker, type WorkerState } from "../lib/worker.ts";
import type { ExportClaim, ExportLease } from "../store/port.ts";
import { ExportFailure, LeaseLost, toExportFailure } from "./failure.ts";
import { failExport, type JobDeps, type LeasedExport, performExport } from "./job.ts";

export interface ExportWorkerDeps extends Omit<JobDeps, "maxBytes"> {
  readonly log: Log;
  readonly telemetry?: Telemetry;
  /** Limits the size of a file. */
  readonly maxBytes?: number;
}

const leaseMs = 30_000;
const renewMs = 10_000;
/** The delay after each failed attempt, in seconds. The attempt after the last delay is the last one. */
const retryDelaysSeconds: readonly number[] = [2, 4, 8, 16, 32, 64, 128, 256, 300];
/** Limits the claims of one export by all processes, because an export that crashes its process must not do so forever. */
export const maxExportAttempts = retryDelaysSeconds.length + 1;

/** The number of concurrent exports, so that a large one does not delay all others. */
export const exportConcurrency = 2;
const idleMs = 500;

/** Runs pending exports in the background; any number of processes may do so on one database. */
export class ExportWorker implements Worker {
  readonly #deps: ExportWorkerDeps & JobDeps;
  readonly #loops: readonly Worker[];
  readonly #failures = new LogOnce();

  constructor(deps: ExportWorkerDeps) {
    this.#deps = { ...deps, maxBytes: deps.maxBytes ?? limits.maxExportBytes };
    const handleFailure = (error: unknown) => {
      if (this.#failures.isDue()) deps.log.error({ err: error }, "Exports cannot be processed");
    };
    const runJobs = async (signal: AbortSignal) => {
      const worked = await this.step(signal);
      this.#failures.reset();
      return worked;
    };
    this.#loops = Array.from({ length: exportConcurrency }, () =>
      createLoop({ step: runJobs, idleMs, failed: handleFailure }),
    );
  }

  start(): void {
    for (const loop of this.#loops) loop.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }

  state(): WorkerState {
    return combineWorkerStates(this.#loops);
  }

  /**
   * Claims one pending export and works on it to its end.
   * @param signal - returns the export to the queue for another process
   * @returns false if no export is pending
   */
  async step(signal: AbortSignal = new AbortController().signal): Promise<boolean> {
    const claim = await this.#deps.store.exportQueue.claim(this.#inMs(0), this.#inMs(leaseMs));
    if (claim) await this.#work(claim, signal);
    return claim !== undefined;
  }

  async #work({ lease, attempts, abandonedSha256 }: ExportClaim, stopping: AbortSignal): Promise<void> {
    const { store, artifacts, log } = this.#deps;
    const job = await store.reader(lease.businessId).get("exports", lease.exportId);
    if (!job) return;
    const losing = new AbortController();
    const leased: LeasedExport = {
      lease,
      job,
      requestId: createId("req"),
      signal: AbortSignal.any([stopping, losing.signal]),
    };
    const line = { exportId: lease.exportId, requestId: leased.requestId, attempt: attempts };
    const renewing = setInterval(() => void this.#renew(lease, losing), renewMs);
    try {
      if (abandonedSha256 !== undefined) await artifacts.remove(abandonedSha256);
      if (attempts > maxExportAttempts) throw new ExportFailure("abandoned");
      const { telemetry = unwatched } = this.#deps;
      const work = { kind: "delivery", of: "export" } as const;
      const { sizeBytes } = await telemetry.watch(
        work,
        () => performExport(this.#deps, leased),
        () => succeeded,
      );
      log.info({ ...line, sizeBytes }, "An export was completed");
    } catch (error) {
      if (error instanceof LeaseLost || losing.signal.aborted) log.warn(line, "Another process took an export over");
      else if (stopping.aborted) await store.exportQueue.release(lease, this.#inMs(0));
      else await this.#retryOrFail(leased, attempts, error);
    } finally {
      clearInterval(renewing);
    }
  }

  async #renew(lease: ExportLease, losing: AbortController): Promise<void> {
    try {
      if (!(await this.#deps.store.exportQueue.renew(lease, this.#inMs(leaseMs)))) losing.abort(new LeaseLost());
    } catch (error) {
      // Another attempt follows before the lease ends.
      this.#deps.log.warn({ err: error, exportId: lease.exportId }, "The lease of an export could not be renewed");
    }
  }

  /** Retries the export later, or fails it if it cannot succeed or was tried often enough. */
  async #retryOrFail(leased: LeasedExport, attempts: number, error: unknown): Promise<void> {
    const { store, log } = this.#deps;
    const { errorCode, retryable } = toExportFailure(error);
    const { exportId } = leased.lease;
    const line = { err: error, exportId, requestId: leased.requestId, attempt: attempts, errorCode };
    const delaySeconds = retryDelaysSeconds[attempts - 1];
    if (retryable && delaySeconds !== undefined) {
      log.error(line, "An export failed and is retried");
      await store.exportQueue.release(leased.lease, this.#inMs(delaySeconds * 1000));
    } else {
      log.error(line, "An export failed");
      await failExport(this.#deps, leased, errorCode);
    }
  }

  #inMs(ms: number): string {
    return new Date(this.#deps.clock.now().getTime() + ms).toISOString();
  }
}
