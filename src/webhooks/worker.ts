import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "../contract/errors.ts";
import type { Clock } from "../lib/clock.ts";
import type { Random } from "../lib/crypto/random.ts";
import type { Log } from "../lib/log.ts";
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
  /** Attempts made at once. */
  readonly concurrency: number;
  readonly random?: Random;
}

export interface DeliveryWorker extends Worker {
  /** Delivers, without starting, what is due now and waits for it. */
  drain(): Promise<void>;
}

/** Longer than an attempt and its record can take. */
const leaseMs = 45_000;
const pollMs = 250;
const gatherMs = 10;
/** Deliveries made in one transaction, which others wait for. */
const madeAtOnce = 100;
/** Attempts that one endpoint gets at once, in all processes; one alone while it is failing or slow. */
export const perEndpoint = 8;
export const slowMs = 2_000;
export const slowForMs = 600_000;
/** When an endpoint whose secret cannot be read is looked at again. */
const unreadableMs = 300_000;
/** How long attempts under way may take to end when the process does. */
const graceMs = 5_000;

type DeliveryQueueName = "sound" | "doubtful";
interface UnderWay {
  readonly lane: DeliveryQueueName;
  readonly startedMs: number;
  readonly attempt: Promise<void>;
}

type NamedLane = EndpointLeases & { readonly name: DeliveryQueueName };

export function createDeliveryWorker(deps: DeliveryWorkerDeps): DeliveryWorker {
  return new Deliveries(deps);
}

/** Makes deliveries of events, leases those that are due, attempts them and records what came of it. */
class Deliveries implements DeliveryWorker {
  readonly #deps: DeliveryWorkerDeps;
  readonly #loop: Worker;
  readonly #ending = new AbortController();
  /** Attempts under way or not yet recorded, by lease and delivery. */
  readonly #underWay = new Map<Lease, UnderWay>();
  #outcomes: DeliveryOutcome[] = [];
  #unsent: Lease[] = [];
  /** Until when an endpoint counts as slow. */
  readonly #slow = new Map<string, number>();
  #troubled = false;

  constructor(deps: DeliveryWorkerDeps) {
    this.#deps = deps;
    this.#loop = createLoop({
      step: () => this.#step(),
      idleMs: pollMs,
      failed: (error) => {
        // Once, not four times a second.
        if (!this.#troubled) deps.log.error({ err: error }, "Webhook deliveries cannot be worked on");
        this.#troubled = true;
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await waitAtMost(graceMs, this.#allEnded());
    this.#ending.abort();
    await this.#allEnded();
    try {
      await this.#giveBack();
      if (this.#outcomes.length > 0) await this.#exchange([...this.#outcomes], []);
    } catch (error) {
      // What is not recorded is attempted again when the leases end.
      this.#deps.log.error({ err: error }, "The last webhook deliveries could not be recorded");
    }
  }

  state(): WorkerState {
    return this.#loop.state();
  }

  async drain(): Promise<void> {
    while ((await this.#turn()) || this.#underWay.size > 0) await this.#someEnded();
  }

  async #step(): Promise<boolean> {
    const more = await this.#turn();
    this.#troubled = false;
    if (more || this.#underWay.size === 0) return more;
    // An attempt that ends makes room for another; until then there may be new events. What ends together is recorded
    // together: each time the database waits for its disk.
    await waitAtMost(pollMs, this.#someEnded());
    await delay(gatherMs);
    return true;
  }

  /** One look at everything; true when it found something to do. */
  async #turn(): Promise<boolean> {
    const { outbox } = this.#deps;
    let found = 0;
    for (const businessId of await outbox.behind()) found += await outbox.fanOut(businessId, this.#at(), madeAtOnce);
    await this.#giveBack();
    const outcomes = [...this.#outcomes];
    const due = await outbox.due(this.#at());
    const lanes = this.#lanes(due, new Set(outcomes.map(({ lease }) => lease)));
    if (outcomes.length + lanes.length > 0) found += await this.#exchange(outcomes, lanes);
    return found > 0;
  }

  /** Places for what is due, besides what is under way and not about to be recorded. */
  #lanes(due: readonly DueEndpoint[], ended: ReadonlySet<Lease>): NamedLane[] {
    const { concurrency } = this.#deps;
    // Receivers that fail or dawdle have places of their own: however many there are, the others keep theirs.
    const doubtful = Math.max(1, Math.floor(concurrency / 4));
    const places: Record<DeliveryQueueName, number> = { sound: Math.max(1, concurrency - doubtful), doubtful };
    const nowMs = performance.now();
    for (const [lease, { lane, startedMs }] of this.#underWay) {
      if (ended.has(lease)) continue;
      // Nobody else waits for one that hangs.
      const hangs = nowMs - startedMs > slowMs;
      if (hangs) this.#slow.set(lease.endpointId, nowMs + slowForMs);
      places[hangs ? "doubtful" : lane]--;
    }
    places.sound = Math.min(places.sound, 2 * concurrency - this.#underWay.size);
    return [...Map.groupBy(due, (endpoint) => this.#laneOf(endpoint))].flatMap(([name, endpoints]) => {
      const limit = places[name];
      const share = Math.max(1, Math.floor(limit / endpoints.length));
      return limit > 0 ? [{ name, endpoints, limit, atOnce: name === "sound" ? Math.min(perEndpoint, share) : 1 }] : [];
    });
  }

  /** Records what has ended and begins what is due; what cannot be recorded now is kept for the next time. */
  async #exchange(outcomes: readonly DeliveryOutcome[], lanes: readonly NamedLane[]): Promise<number> {
    const { outbox } = this.#deps;
    const { leases, failing } = await outbox.exchange({
      outcomes,
      lanes,
      at: this.#at(),
      leaseUntil: this.#at(leaseMs),
    });
    this.#outcomes = this.#outcomes.slice(outcomes.length);
    for (const { lease } of outcomes) this.#underWay.delete(lease);
    const doubtful = lanes.find(({ name }) => name === "doubtful")?.endpoints ?? [];
    const ids = new Set(doubtful.map(({ endpointId }) => endpointId));
    for (const lease of leases) {
      this.#underWay.set(lease, {
        lane: ids.has(lease.endpointId) ? "doubtful" : "sound",
        startedMs: performance.now(),
        attempt: this.#attempt(lease),
      });
    }
    await this.#giveUp(outcomes, failing);
    return leases.length;
  }

  #laneOf({ endpointId, failing }: DueEndpoint): DeliveryQueueName {
    const nowMs = performance.now();
    for (const [id, untilMs] of this.#slow) if (untilMs <= nowMs) this.#slow.delete(id);
    return failing || this.#slow.has(endpointId) ? "doubtful" : "sound";
  }

  /** Never rejects: what becomes of it stands in the lists. */
  async #attempt(lease: Lease): Promise<void> {
    const { endpoints, send, clock, log } = this.#deps;
    const { endpointId, eventId, payload } = lease;
    const now = clock.now();
    try {
      const target = await endpoints.target(lease);
      if (!target?.secrets) {
        if (target) log.error({ endpointId }, "The webhook secret was sealed under another key: rotate it");
        this.#unsent.push(lease);
        return;
      }
      const headers = createSignatureHeaders({ secrets: target.secrets, eventId, body: payload, now });
      const attempt = await send({ url: target.url, headers, body: payload }, this.#ending.signal);
      this.#keep(lease, now, attempt);
    } catch (error) {
      this.#unsent.push(lease);
      if (!this.#ending.signal.aborted) log.error({ err: error, endpointId }, "A webhook could not be attempted");
    }
  }

  #keep(lease: Lease, startedAt: Date, attempt: Attempt): void {
    const { clock, log, random = Math.random } = this.#deps;
    const { endpointId, deliveryId, eventId } = lease;
    const { statusCode, error, answer, durationMs } = attempt;
    if (durationMs > slowMs) this.#slow.set(endpointId, performance.now() + slowForMs);
    else this.#slow.delete(endpointId);
    const facts = { endpointId, deliveryId, eventId, attempt: lease.attempt + 1, statusCode, error, durationMs };
    log[error === null ? "debug" : "info"](facts, error === null ? "Webhook delivered" : "Webhook not delivered");
    this.#outcomes.push({
      lease,
      startedAt: startedAt.toISOString(),
      durationMs,
      statusCode,
      error,
      answer,
      ...planNextAttempt(attempt, lease.attempt + 1, clock.now().getTime(), random),
    });
  }

  /** What could not be attempted counts for nothing. */
  async #giveBack(): Promise<void> {
    const unsent = [...this.#unsent];
    await this.#deps.outbox.giveBack(unsent, this.#at(this.#ending.signal.aborted ? 0 : unreadableMs));
    this.#unsent = this.#unsent.slice(unsent.length);
    for (const lease of unsent) this.#underWay.delete(lease);
  }

  async #giveUp(outcomes: readonly DeliveryOutcome[], failing: readonly FailingEndpoint[]): Promise<void> {
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
      // Removed meanwhile.
      if (!(error instanceof Problem && error.code === "not_found")) throw error;
    }
  }

  async #someEnded(): Promise<void> {
    if (this.#underWay.size === 0) return;
    await Promise.race([...this.#underWay.values()].map(({ attempt }) => attempt));
  }

  async #allEnded(): Promise<void> {
    await Promise.all([...this.#underWay.values()].map(({ attempt }) => attempt));
  }

  #at(fromNowMs = 0): string {
    return new Date(this.#deps.clock.now().getTime() + fromNowMs).toISOString();
  }
}

/** Waits for something, but no longer than this. */
async function waitAtMost(ms: number, awaited: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([awaited, elapsed]);
  clearTimeout(timer);
}
