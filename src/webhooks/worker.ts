import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "../contract/errors.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { waitAtMost } from "../lib/timeout.ts";
import { createLoop, type Worker, type WorkerState } from "../lib/worker.ts";
import type {
  DeliveryOutcome,
  DueEndpoint,
  EndpointKey,
  EndpointLeases,
  FailingEndpoint,
  Lease,
  Outbox,
} from "../store/queues/outbox.ts";
import type { Endpoints } from "./endpoints.ts";
import { type Attempt, giveUpAfterMs, planNextAttempt } from "./retry-schedule.ts";
import type { Sender } from "./sender.ts";
import { createSignatureHeaders } from "./signature.ts";

export interface DeliveryWorkerDeps {
  readonly outbox: Outbox;
  readonly endpoints: Endpoints;
  readonly send: Sender;
  readonly clock: Clock;
  readonly log: Log;
  /** The number of concurrent attempts. */
  readonly concurrency: number;
}

/** Longer than an attempt and its recording can take. */
const leaseMs = 45_000;
const pollMs = 250;
const gatherMs = 10;
/** Limits the deliveries created in one transaction, because other writers wait for it. */
const fanOutBatch = 100;
/** The number of concurrent attempts to one endpoint in all processes; 1 while it fails or is slow. */
export const perEndpoint = 8;
export const slowMs = 2_000;
export const slowForMs = 600_000;
/** The delay before the next attempt to an endpoint whose secret cannot be decrypted. */
const unreadableMs = 300_000;
/** The delay after an error before an attempt, such as a database that is away. */
const notAttemptedMs = 1_000;
/** Limits the wait for attempts in flight at shutdown. */
const graceMs = 5_000;

/** Endpoints that fail or are slow are `degraded` and have a share of attempts of their own. */
type EndpointHealth = "healthy" | "degraded";

interface AttemptInFlight {
  readonly health: EndpointHealth;
  readonly startedMs: number;
  readonly attempt: Promise<void>;
}

type HealthLeases = EndpointLeases & { readonly health: EndpointHealth };

/** Creates deliveries of events, leases those that are due, attempts them and records the results. */
export class DeliveryWorker implements Worker {
  readonly #deps: DeliveryWorkerDeps;
  readonly #loop: Worker;
  readonly #ending = new AbortController();
  /** Attempts in flight or not yet recorded. */
  readonly #inFlight = new Map<Lease, AttemptInFlight>();
  #outcomes: DeliveryOutcome[] = [];
  #unsent: { readonly lease: Lease; readonly delayMs: number }[] = [];
  /** The time until which an endpoint counts as slow. */
  readonly #slow = new Map<string, number>();

  constructor(deps: DeliveryWorkerDeps) {
    this.#deps = deps;
    this.#loop = createLoop({
      step: () => this.#step(),
      idleMs: pollMs,
      failed: (error) => deps.log.error({ err: error }, "Webhook deliveries cannot be processed"),
    });
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await waitAtMost(graceMs, this.#waitForAll());
    this.#ending.abort();
    await this.#waitForAll();
    try {
      await this.#giveBack();
      if (this.#outcomes.length > 0) await this.#exchange([...this.#outcomes], []);
    } catch (error) {
      // Unrecorded deliveries are attempted again when their leases end.
      this.#deps.log.error({ err: error }, "The last webhook deliveries could not be recorded");
    }
  }

  state(): WorkerState {
    return this.#loop.state();
  }

  /** Delivers what is due now and waits for it, without starting the loop. */
  async drain(): Promise<void> {
    while ((await this.#runOnce()) || this.#inFlight.size > 0) await this.#waitForAny();
  }

  async #step(): Promise<boolean> {
    const more = await this.#runOnce();
    if (more || this.#inFlight.size === 0) return more;
    // An attempt that ends makes room for another, and new events may arrive before. Attempts that end together are
    // recorded together, because each write waits for the disk.
    await waitAtMost(pollMs, this.#waitForAny());
    await delay(gatherMs);
    return true;
  }

  /** Creates, records and begins what is due. @returns whether there was work */
  async #runOnce(): Promise<boolean> {
    const { outbox } = this.#deps;
    let count = 0;
    for (const businessId of await outbox.behind()) count += await outbox.fanOut(businessId, this.#at(), fanOutBatch);
    await this.#giveBack();
    const outcomes = [...this.#outcomes];
    const due = await outbox.due(this.#at());
    const endpointGroups = this.#planLeases(due, new Set(outcomes.map(({ lease }) => lease)));
    if (outcomes.length + endpointGroups.length > 0) count += await this.#exchange(outcomes, endpointGroups);
    return count > 0;
  }

  /** Plans how many deliveries of which endpoints to lease, besides the attempts in flight. */
  #planLeases(due: readonly DueEndpoint[], ended: ReadonlySet<Lease>): HealthLeases[] {
    const { concurrency } = this.#deps;
    // Degraded endpoints have a fixed share of attempts, so that they cannot delay healthy ones.
    const degraded = Math.max(1, Math.floor(concurrency / 4));
    const places: Record<EndpointHealth, number> = { healthy: Math.max(1, concurrency - degraded), degraded };
    const nowMs = performance.now();
    for (const [lease, { health, startedMs }] of this.#inFlight) {
      if (ended.has(lease)) continue;
      // An attempt that hangs must not use a place of healthy endpoints.
      const hangs = nowMs - startedMs > slowMs;
      if (hangs) this.#slow.set(lease.endpointId, nowMs + slowForMs);
      places[hangs ? "degraded" : health]--;
    }
    places.healthy = Math.min(places.healthy, 2 * concurrency - this.#inFlight.size);
    return [...Map.groupBy(due, (endpoint) => this.#getHealth(endpoint))].flatMap(([health, endpoints]) => {
      const limit = places[health];
      const share = Math.max(1, Math.floor(limit / endpoints.length));
      const atOnce = health === "healthy" ? Math.min(perEndpoint, share) : 1;
      return limit > 0 ? [{ health, endpoints, limit, atOnce }] : [];
    });
  }

  /** Records ended attempts and begins due ones. Outcomes that cannot be recorded now are recorded the next time. */
  async #exchange(outcomes: readonly DeliveryOutcome[], endpointGroups: readonly HealthLeases[]): Promise<number> {
    const { outbox } = this.#deps;
    const { leases, failing } = await outbox.exchange({
      outcomes,
      endpointGroups,
      at: this.#at(),
      leaseUntil: this.#at(leaseMs),
    });
    this.#outcomes = this.#outcomes.slice(outcomes.length);
    for (const { lease } of outcomes) this.#inFlight.delete(lease);
    const degraded = endpointGroups.find(({ health }) => health === "degraded")?.endpoints ?? [];
    const degradedIds = new Set(degraded.map(({ endpointId }) => endpointId));
    for (const lease of leases) {
      this.#inFlight.set(lease, {
        health: degradedIds.has(lease.endpointId) ? "degraded" : "healthy",
        startedMs: performance.now(),
        attempt: this.#attempt(lease),
      });
    }
    await this.#disableFailing(outcomes, failing);
    return leases.length;
  }

  #getHealth({ endpointId, failing }: DueEndpoint): EndpointHealth {
    const nowMs = performance.now();
    for (const [id, untilMs] of this.#slow) if (untilMs <= nowMs) this.#slow.delete(id);
    return failing || this.#slow.has(endpointId) ? "degraded" : "healthy";
  }

  /** Makes one attempt; never rejects, because results go to the lists of outcomes and unsent leases. */
  async #attempt(lease: Lease): Promise<void> {
    const { endpoints, send, clock, log } = this.#deps;
    const { endpointId, eventId, payload } = lease;
    const now = clock.now();
    try {
      const target = await endpoints.target(lease);
      if (!target?.secrets) {
        if (target) log.error({ endpointId }, "The webhook secret was encrypted with another key: rotate it");
        this.#unsent.push({ lease, delayMs: unreadableMs });
        return;
      }
      const headers = createSignatureHeaders({ secrets: target.secrets, eventId, body: payload, now });
      const attempt = await send({ url: target.url, headers, body: payload }, this.#ending.signal);
      this.#recordAttempt(lease, now, attempt);
    } catch (error) {
      this.#unsent.push({ lease, delayMs: notAttemptedMs });
      if (!this.#ending.signal.aborted) log.error({ err: error, endpointId }, "A webhook could not be attempted");
    }
  }

  #recordAttempt(lease: Lease, startedAt: Date, attempt: Attempt): void {
    const { clock, log } = this.#deps;
    const { endpointId, deliveryId, eventId } = lease;
    const { statusCode, error, answer, durationMs } = attempt;
    if (durationMs > slowMs) this.#slow.set(endpointId, performance.now() + slowForMs);
    else this.#slow.delete(endpointId);
    const line = { endpointId, deliveryId, eventId, attempt: lease.attempt + 1, statusCode, error, durationMs };
    log[error === null ? "debug" : "info"](line, error === null ? "Webhook delivered" : "Webhook not delivered");
    this.#outcomes.push({
      lease,
      startedAt: startedAt.toISOString(),
      durationMs,
      statusCode,
      error,
      answer,
      ...planNextAttempt(attempt, lease.attempt + 1, clock.now().getTime(), Math.random),
    });
  }

  /** Returns leases without an attempt to the queue. */
  async #giveBack(): Promise<void> {
    const unsent = [...this.#unsent];
    const isEnding = this.#ending.signal.aborted;
    for (const [delayMs, group] of Map.groupBy(unsent, (each) => (isEnding ? 0 : each.delayMs))) {
      const leases = group.map(({ lease }) => lease);
      await this.#deps.outbox.giveBack(leases, this.#at(delayMs));
    }
    this.#unsent = this.#unsent.slice(unsent.length);
    for (const { lease } of unsent) this.#inFlight.delete(lease);
  }

  async #disableFailing(outcomes: readonly DeliveryOutcome[], failing: readonly FailingEndpoint[]): Promise<void> {
    for (const { lease, statusCode } of outcomes) if (statusCode === 410) await this.#disable(lease, "gone");
    for (const endpoint of failing) {
      if (endpoint.firstFailureAt <= this.#at(-giveUpAfterMs)) await this.#disable(endpoint, "failing");
    }
  }

  async #disable({ businessId, endpointId }: EndpointKey, reason: "gone" | "failing"): Promise<void> {
    try {
      await this.#deps.endpoints.disable({ businessId, endpointId }, reason);
      this.#deps.log.warn({ endpointId, reason }, "A webhook endpoint was disabled");
    } catch (error) {
      // The endpoint has been removed.
      if (!(error instanceof Problem && error.code === "not_found")) throw error;
    }
  }

  async #waitForAny(): Promise<void> {
    if (this.#inFlight.size === 0) return;
    await Promise.race([...this.#inFlight.values()].map(({ attempt }) => attempt));
  }

  async #waitForAll(): Promise<void> {
    await Promise.all([...this.#inFlight.values()].map(({ attempt }) => attempt));
  }

  #at(fromNowMs = 0): string {
    return new Date(this.#deps.clock.now().getTime() + fromNowMs).toISOString();
  }
}
