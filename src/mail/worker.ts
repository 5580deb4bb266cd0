import { isUnavailable } from "../contract/errors.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { retry } from "../lib/retry.ts";
import { combineWorkerStates, createLoop, type Worker } from "../lib/worker.ts";
import { withAudit } from "../pipeline/audit/with-audit.ts";
import type { MailLease, PipelineTransaction, Store } from "../store/port.ts";
import { normalizeEmail, type Patch, type Row } from "../store/tables.ts";
import type { DeliveryResult, MailTransport } from "./mail-transport.ts";
import { composeMessage, isSendable, type Mailbox } from "./message.ts";
import { mailRetryDelaysMs, pausesMs } from "./retry-schedule.ts";
import { suppressEmail } from "./suppressions.ts";

export interface MailWorkerDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly from: Mailbox;
  /** Limits the time until a message is handed over, and again the time until the answer. */
  readonly timeoutMs: number;
  /** Creates the transport of one sender. */
  readonly createTransport: () => MailTransport;
  /** The number of messages that are sent concurrently. */
  readonly concurrency: number;
  /** Returns whether this process leaves messages to others. */
  readonly yields?: () => Promise<boolean>;
}

const idleMs = 500;
/** A lease is longer than the attempt by this margin, because the clocks of machines differ. */
const leaseMarginMs = 5_000;
const writeRetryMs = 200;
const shutdownRetryMs = 2_000;

/**
 * Sends queued messages, each to its one recipient. The handover is recorded before it happens, the result afterwards.
 * If a process ends in between, it is unknown whether the server accepted the message: it is then not sent again and
 * marked as failed.
 */
export function createMailWorker(deps: MailWorkerDeps): Worker {
  const health = createHealth();
  const senders = Array.from({ length: deps.concurrency }, () => {
    const transport = deps.createTransport();
    const sender = new MailSender(deps, transport, health);
    const handleFailure = (error: unknown) => deps.log.error({ err: error }, "Mail could not be sent");
    const loop = createLoop({
      step: async (signal) => !(await deps.yields?.()) && (await sender.step(signal)),
      idleMs,
      failed: handleFailure,
    });
    return { transport, loop };
  });
  return {
    start() {
      for (const { loop } of senders) loop.start();
    },
    async stop() {
      await Promise.all(senders.map(({ loop }) => loop.stop()));
      for (const { transport } of senders) transport.close();
    },
    state: () => combineWorkerStates(senders.map(({ loop }) => loop)),
  };
}

/** Pauses all senders after a failure of the server. */
interface ServerHealth {
  isHealthy(): boolean;
  record(outcome: DeliveryResult): void;
}

function createHealth(): ServerHealth {
  let failures = 0;
  let pausedUntilMs = 0;
  return {
    isHealthy: () => performance.now() >= pausedUntilMs,
    record(outcome) {
      const isServerFault = outcome.kind === "uncertain" || (outcome.kind === "deferred" && outcome.serverTrouble);
      if (outcome.kind === "accepted" || outcome.kind === "refused") failures = 0;
      // Attempts that began before the pause add no information.
      if (!isServerFault || performance.now() < pausedUntilMs) return;
      pausedUntilMs = performance.now() + (pausesMs[Math.min(failures, pausesMs.length - 1)] ?? 0);
      failures += 1;
    },
  };
}

type Send = Row<"emailSends">;
type SendResult = DeliveryResult | { readonly kind: "suppressed" };

/** Sends one message after another. */
class MailSender {
  readonly #deps: MailWorkerDeps;
  readonly #transport: MailTransport;
  readonly #health: ServerHealth;

  constructor(deps: MailWorkerDeps, transport: MailTransport, health: ServerHealth) {
    this.#deps = deps;
    this.#transport = transport;
    this.#health = health;
  }

  async step(signal: AbortSignal): Promise<boolean> {
    const { store } = this.#deps;
    const lease = this.#health.isHealthy() ? await store.mailQueue.lease(this.#at(0), this.#leaseEnd()) : undefined;
    if (!lease) {
      this.#transport.close();
      return false;
    }
    const send = await store.reader(lease.businessId).get("emailSends", lease.emailSendId);
    if (!send) throw new Error(`The queued message ${lease.emailSendId} is missing`);
    const result = await this.#send(lease, send, signal);
    await this.#retryWrite(signal, () =>
      result.kind === "stopped" ? store.mailQueue.giveBack(lease, this.#at(0)) : this.#record(lease, send, result),
    );
    return true;
  }

  async #send(lease: MailLease, send: Send, signal: AbortSignal): Promise<SendResult> {
    if (lease.handedOverAt !== undefined) return { kind: "uncertain" };
    const { recipientEmail } = send;
    const has = { email: normalizeEmail(recipientEmail) };
    const [suppression] = await this.#deps.store.reader(lease.businessId).find("suppressions", { has }, { limit: 1 });
    if (suppression) return { kind: "suppressed" };
    if (!isSendable(recipientEmail)) return { kind: "refused", status: "failed", error: badAddress, noMailbox: false };
    const message = await composeMessage(send, this.#deps.from);
    const outcome = await this.#transport.deliver(message, () => this.#handOver(lease), signal);
    this.#health.record(outcome);
    return outcome;
  }

  async #handOver(lease: MailLease): Promise<boolean> {
    try {
      return await this.#deps.store.mailQueue.markHandedOver(lease, this.#at(0), this.#leaseEnd());
    } catch (error) {
      this.#deps.log.error({ err: error }, "A message could not be marked as handed over");
      return false;
    }
  }

  async #record(lease: MailLease, send: Send, result: Exclude<SendResult, { kind: "stopped" }>): Promise<void> {
    switch (result.kind) {
      case "accepted":
        return this.#settle(lease, { status: "sent", sentAt: this.#at(0), error: null });
      case "suppressed":
        return this.#settle(lease, { status: "suppressed", error: null });
      case "refused":
        return this.#settle(lease, { status: result.status, error: result.error }, async (transaction) => {
          if (result.noMailbox) await suppressEmail(transaction, send.recipientEmail, "bounced");
        });
      case "uncertain":
        return this.#settle(lease, { status: "failed", error: unknownResult });
      case "deferred": {
        const delayMs = mailRetryDelaysMs[lease.attempt];
        const { error } = result;
        if (delayMs !== undefined) return this.#settle(lease, { error }, undefined, this.#at(delayMs));
        return this.#settle(lease, { status: "failed", error: `${error} (${lease.attempt + 1} attempts)` });
      }
    }
  }

  /** Ends an attempt and records its result, in one transaction. @param dueAt - the time of the next attempt, if any */
  async #settle(
    lease: MailLease,
    patch: Patch<"emailSends">,
    more: (transaction: PipelineTransaction) => Promise<void> = async () => undefined,
    dueAt?: string,
  ): Promise<void> {
    const { store, clock, log } = this.#deps;
    const { businessId, emailSendId } = lease;
    const action = `email_send.${patch.status ?? "deferred"}`;
    const change = { businessId, actorType: "system", actorId: "mail", action, now: clock.now() } as const;
    await withAudit(store, change, async (transaction) => {
      if (!(await transaction.settleMail(lease, dueAt))) return;
      const send = await transaction.get("emailSends", emailSendId);
      if (send) await transaction.update("emailSends", send, patch);
      await more(transaction);
    });
    const { status = "queued", error } = patch;
    log[status === "failed" ? "warn" : "debug"]({ emailSendId, status, error }, "A message was processed");
  }

  /**
   * Retries a write while the database is unavailable, because an unrecorded result counts as unknown. No other process
   * claims the message before the lease ends. At shutdown there is less time.
   */
  async #retryWrite(stopping: AbortSignal, write: () => Promise<void>): Promise<void> {
    await retry(write, {
      firstPauseMs: writeRetryMs,
      maxPauseMs: writeRetryMs,
      getLimitMs: (error) => {
        if (!isUnavailable(error)) return 0;
        return stopping.aborted ? shutdownRetryMs : this.#deps.timeoutMs;
      },
    });
  }

  #at(inMs: number): string {
    return new Date(this.#deps.clock.now().getTime() + inMs).toISOString();
  }

  #leaseEnd(): string {
    return this.#at(this.#deps.timeoutMs + leaseMarginMs);
  }
}

const badAddress = "The address is not one that can be sent to";
const unknownResult =
  "It is not known whether the mail server took the message, for no answer came; it is not sent again";
