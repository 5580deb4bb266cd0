import { Problem } from "../contract/errors.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import { createLoop, type Worker } from "../lib/worker.ts";
import type { DueEndpoint, EndpointKey, FailingEndpoint, Lease, Outbox, Outcome } from "../store/outbox.ts";
import type { Endpoints } from "./endpoints.ts";
import { type Attempt, followUp, giveUpAfterMs } from "./schedule.ts";
import type { Sender } from "./sender.ts";
import { signatureHeaders } from "./signature.ts";

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
const eventsAtOnce = 100;
/** Attempts that one endpoint gets at once, in all processes; one alone while it is failing or slow. */
const perEndpoint = 4;
const slowMs = 3_000;
const slowForMs = 600_000;
/** When an endpoint whose secret cannot be read is looked at again. */
const unreadableMs = 300_000;
/** How long attempts under way may take to end when the process does. */
const graceMs = 5_000;

type LaneName = "sound" | "doubtful";

export function createDeliveryWorker(deps: DeliveryWorkerDeps): DeliveryWorker {
  return new Deliveries(deps);
}

/** Makes deliveries of events, leases those that are due, attempts them and records what came of it. */
class Deliveries implements DeliveryWorker {
  readonly #deps: DeliveryWorkerDeps;
  readonly #loop: Worker;
  readonly #ending = new AbortController();
  /** Attempts under way or not yet recorded, by lease and delivery. */
  readonly #underWay = new Map<Lease, { readonly lane: LaneName; readonly attempt: Promise<void> }>();
  #outcomes: Outcome[] = [];
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
    await within(graceMs, this.#allEnded());
    this.#ending.abort();
    await this.#allEnded();
    try {
      await this.#record();
    } catch (error) {
      // What is not recorded is attempted again when the leases end.
      this.#deps.log.error({ err: error }, "The last webhook deliveries could not be recorded");
    }
  }

  async drain(): Promise<void> {
    while ((await this.#turn()) || this.#underWay.size > 0) await this.#someEnded();
  }

  async #step(): Promise<boolean> {
    const more = await this.#turn();
    this.#troubled = false;
    if (more || this.#underWay.size === 0) return more;
    // An attempt that ends makes room for another; until then there may be new events.
    await within(pollMs, this.#someEnded());
    return true;
  }

  /** One look at everything; true when it found something to do. */
  async #turn(): Promise<boolean> {
    await this.#record();
    const { outbox } = this.#deps;
    let found = 0;
    for (const businessId of await outbox.behind()) found += await outbox.fanOut(businessId, this.#at(), eventsAtOnce);
    const leases = await this.#lease();
    return found + leases > 0;
  }

  async #lease(): Promise<number> {
    const { outbox, concurrency } = this.#deps;
    // Receivers that fail or dawdle have places of their own: however many there are, the others keep theirs.
    const places: Record<LaneName, number> = { sound: 0, doubtful: Math.max(1, Math.floor(concurrency / 4)) };
    places.sound = Math.max(1, concurrency - places.doubtful);
    for (const { lane } of this.#underWay.values()) places[lane]--;
    if (places.sound <= 0 && places.doubtful <= 0) return 0;
    const due = Map.groupBy(await outbox.due(this.#at()), (endpoint) => this.#laneOf(endpoint));
    if (due.size === 0) return 0;
    const lanes = (["sound", "doubtful"] as const).map((name) => {
      const endpoints = due.get(name) ?? [];
      const share = Math.max(1, Math.floor(places[name] / Math.max(1, endpoints.length)));
      return { endpoints, limit: places[name], atOnce: name === "sound" ? Math.min(perEndpoint, share) : 1 };
    });
    const sound = new Set(due.get("sound")?.map(({ endpointId }) => endpointId));
    const leases = await outbox.lease(lanes, this.#at(), this.#at(leaseMs));
    for (const lease of leases) {
      const lane = sound.has(lease.endpointId) ? "sound" : "doubtful";
      this.#underWay.set(lease, { lane, attempt: this.#attempt(lease) });
    }
    return leases.length;
  }

  #laneOf({ endpointId, failing }: DueEndpoint): LaneName {
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
      const headers = signatureHeaders({ secrets: target.secrets, eventId, body: payload, now });
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
      ...followUp(attempt, lease.attempt + 1, clock.now().getTime(), random),
    });
  }

  /** Records what has ended; what cannot be recorded now is kept for the next time. */
  async #record(): Promise<void> {
    const { outbox } = this.#deps;
    const [outcomes, unsent] = [[...this.#outcomes], [...this.#unsent]];
    if (unsent.length > 0) {
      await outbox.giveBack(unsent, this.#at(this.#ending.signal.aborted ? 0 : unreadableMs));
      this.#unsent = this.#unsent.slice(unsent.length);
      for (const lease of unsent) this.#underWay.delete(lease);
    }
    if (outcomes.length === 0) return;
    const failing = await outbox.settle(outcomes, this.#at());
    this.#outcomes = this.#outcomes.slice(outcomes.length);
    for (const { lease } of outcomes) this.#underWay.delete(lease);
    await this.#giveUp(outcomes, failing);
  }

  async #giveUp(outcomes: readonly Outcome[], failing: readonly FailingEndpoint[]): Promise<void> {
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
async function within(ms: number, awaited: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([awaited, elapsed]);
  clearTimeout(timer);
}
