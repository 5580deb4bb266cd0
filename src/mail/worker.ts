import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "../contract/errors.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { combineWorkerStates, createLoop, type Worker } from "../lib/worker.ts";
import { withAudit } from "../pipeline/with-audit.ts";
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
  /** For the way to handing a message over, and again for the answer after that. */
  readonly timeoutMs: number;
  /** Makes what takes messages away; each lane has its own. */
  readonly carrier: () => MailTransport;
  /** Messages on their way at once. */
  readonly lanes: number;
  /** Whether messages are left to other processes. */
  readonly yields?: () => Promise<boolean>;
}

const idleMs = 500;
/** A lease outlasts the attempt by this: clocks of several machines differ. */
const leaseMarginMs = 5_000;
const lastPatienceMs = 2_000;

/**
 * Sends what is queued, each message to its one recipient. That a message is about to be handed over is written down
 * before, and what came of it after. A process that ends in between leaves it unknown whether the server took the
 * message: then it is not sent again, and shown as failed.
 */
export function createMailWorker(deps: MailWorkerDeps): Worker {
  const health = createHealth();
  const lanes = Array.from({ length: deps.lanes }, () => {
    const carrier = deps.carrier();
    const lane = new Lane(deps, carrier, health);
    const handleFailure = (error: unknown) => deps.log.error({ err: error }, "Mail could not be worked on");
    const loop = createLoop({
      step: async (signal) => !(await deps.yields?.()) && (await lane.step(signal)),
      idleMs,
      failed: handleFailure,
    });
    return { carrier, loop };
  });
  return {
    start() {
      for (const { loop } of lanes) loop.start();
    },
    async stop() {
      await Promise.all(lanes.map(({ loop }) => loop.stop()));
      for (const { carrier } of lanes) carrier.rest();
    },
    state: () => combineWorkerStates(lanes.map(({ loop }) => loop)),
  };
}

/** Whether the server is one to be asked: known to all lanes, so that none asks in vain what another has found out. */
interface Health {
  isGood(): boolean;
  note(outcome: DeliveryResult): void;
}

function createHealth(): Health {
  let failures = 0;
  let pausedUntilMs = 0;
  return {
    isGood: () => performance.now() >= pausedUntilMs,
    note(outcome) {
      const trouble = outcome.kind === "uncertain" || (outcome.kind === "deferred" && outcome.serverTrouble);
      if (outcome.kind === "accepted" || outcome.kind === "refused") failures = 0;
      // Lanes that were already under way say nothing new.
      if (!trouble || performance.now() < pausedUntilMs) return;
      pausedUntilMs = performance.now() + (pausesMs[Math.min(failures, pausesMs.length - 1)] ?? 0);
      failures += 1;
    },
  };
}

type Send = Row<"emailSends">;
type Fate = DeliveryResult | { readonly kind: "suppressed" };

/** One message after another. */
class Lane {
  readonly #deps: MailWorkerDeps;
  readonly #carrier: MailTransport;
  readonly #health: Health;

  constructor(deps: MailWorkerDeps, carrier: MailTransport, health: Health) {
    this.#deps = deps;
    this.#carrier = carrier;
    this.#health = health;
  }

  async step(signal: AbortSignal): Promise<boolean> {
    const { store } = this.#deps;
    const lease = this.#health.isGood() ? await store.mailQueue.lease(this.#at(0), this.#leaseEnd()) : undefined;
    if (!lease) {
      this.#carrier.rest();
      return false;
    }
    const send = await store.reader(lease.businessId).get("emailSends", lease.emailSendId);
    if (!send) throw new Error(`The queued message ${lease.emailSendId} is missing`);
    const deliveryResult = await this.#fateOf(lease, send, signal);
    await this.#untilWritten(signal, () =>
      deliveryResult.kind === "stopped"
        ? store.mailQueue.giveBack(lease, this.#at(0))
        : this.#record(lease, send, deliveryResult),
    );
    return true;
  }

  async #fateOf(lease: MailLease, send: Send, signal: AbortSignal): Promise<Fate> {
    if (lease.handedOverAt !== undefined) return { kind: "uncertain" };
    const { recipientEmail } = send;
    const has = { email: normalizeEmail(recipientEmail) };
    const [suppression] = await this.#deps.store.reader(lease.businessId).find("suppressions", { has }, { limit: 1 });
    if (suppression) return { kind: "suppressed" };
    if (!isSendable(recipientEmail)) return { kind: "refused", status: "failed", error: badAddress, noMailbox: false };
    const message = await composeMessage(send, this.#deps.from);
    const outcome = await this.#carrier.deliver(message, () => this.#handOver(lease), signal);
    this.#health.note(outcome);
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

  async #record(lease: MailLease, send: Send, deliveryResult: Exclude<Fate, { kind: "stopped" }>): Promise<void> {
    switch (deliveryResult.kind) {
      case "accepted":
        return this.#settle(lease, { status: "sent", sentAt: this.#at(0), error: null });
      case "suppressed":
        return this.#settle(lease, { status: "suppressed", error: null });
      case "refused":
        return this.#settle(
          lease,
          { status: deliveryResult.status, error: deliveryResult.error },
          async (transaction) => {
            if (deliveryResult.noMailbox) await suppressEmail(transaction, send.recipientEmail, "bounced");
          },
        );
      case "uncertain":
        return this.#settle(lease, { status: "failed", error: unknownFate });
      case "deferred": {
        const delayMs = mailRetryDelaysMs[lease.attempt];
        const { error } = deliveryResult;
        if (delayMs !== undefined) return this.#settle(lease, { error }, undefined, this.#at(delayMs));
        return this.#settle(lease, { status: "failed", error: `${error} (${lease.attempt + 1} attempts)` });
      }
    }
  }

  /** Ends the attempt and shows what came of it, in one transaction; `dueAt`: when the next one follows. */
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
    log[status === "failed" ? "warn" : "debug"]({ emailSendId, status, error }, "A message was worked on");
  }

  /**
   * What came of a message is worth patience with a database that is busy or away: it would be taken for unknown.
   * Nobody else looks at the message before the lease ends; at the end of the process there is less time.
   */
  async #untilWritten(stopping: AbortSignal, write: () => Promise<void>): Promise<void> {
    const startedMs = performance.now();
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== "unavailable") throw error;
        const patienceMs = stopping.aborted ? lastPatienceMs : this.#deps.timeoutMs;
        if (performance.now() - startedMs > patienceMs) throw error;
      }
      await delay(200);
    }
  }

  #at(inMs: number): string {
    return new Date(this.#deps.clock.now().getTime() + inMs).toISOString();
  }

  #leaseEnd(): string {
    return this.#at(this.#deps.timeoutMs + leaseMarginMs);
  }
}

const badAddress = "The address is not one that can be sent to";
const unknownFate =
  "It is not known whether the mail server took the message, for no answer came; it is not sent again";
