import { type ExpressionBuilder, sql } from "kysely";
import { type EventType, events } from "../../contract/events.ts";
import { WebhookAttempt, WebhookDelivery } from "../../contract/webhooks.ts";
import { createId } from "../../lib/ids.ts";
import { createSource, type Database, type Db, type PreparedStatement, prepareQuery } from "../database.ts";
import type { Engine, Transact, TransactSerially } from "../engine.ts";
import { createCodec, type StoredRow } from "../queries/codec.ts";
import { holdEndpoints, leaseEndpointDeliveries } from "./delivery-leases.ts";
import type {
  DeliveryExchange,
  DeliveryFilter,
  DeliveryOutcome,
  DueEndpoint,
  ExchangeResult,
  FailingEndpoint,
  Lease,
  ListedDelivery,
  Outbox,
  PlacedEvent,
  ReplayRequest,
} from "./outbox.ts";

const deliveryCodec = createCodec(WebhookDelivery);
const attemptCodec = createCodec(WebhookAttempt);
const endpointCodec = createSource("webhookEndpoints").codec;

// Literals, because partial indexes are used only by statements that repeat their condition.
const isPending = sql<boolean>`${sql.ref("d.status")} = ${sql.lit("pending")}`;
const isLeased = sql<boolean>`${sql.ref("d.status")} = ${sql.lit("leased")}`;
const isEnabled = sql<boolean>`${sql.ref("e.status")} = ${sql.lit("enabled")}`;

/** Selects tenants with events that have no deliveries yet. */
function prepareBehind(read: Db): PreparedStatement {
  return prepareQuery(
    read
      .selectFrom("webhookEndpoints as e")
      .leftJoin("webhookCursors as c", "c.businessId", "e.businessId")
      .select("e.businessId")
      .distinct()
      .where(isEnabled)
      .where((eb) => {
        const last = eb.selectFrom("events as v").whereRef("v.businessId", "=", "e.businessId");
        const position = last.select((of) => of.fn.max("v.position").as("last"));
        const cursor = eb.fn.coalesce("c.position", eb.lit(0));
        return eb.and([eb(position, ">", cursor), eb(position, ">", eb.ref("e.afterPosition"))]);
      }),
  );
}

/** Selects enabled endpoints that are not paused at a time, with the earliest times of their deliveries. */
function prepareDue(read: Db): PreparedStatement {
  return prepareQuery(
    read
      .selectFrom("webhookEndpoints as e")
      .select((eb) => [
        "e.businessId",
        "e.endpointId",
        "e.firstFailureAt",
        matchEndpoint(eb).select(eb.fn.min("d.dueAt").as("at")).where(isPending).as("dueAt"),
        matchEndpoint(eb).select(eb.fn.min("d.leaseUntil").as("at")).where(isLeased).as("leaseUntil"),
      ])
      .where(isEnabled)
      .where((eb) => eb.or([eb("e.pausedUntil", "is", null), eb("e.pausedUntil", "<=", "")])),
  );
}

export class SqlOutbox implements Outbox {
  readonly #read: Db;
  readonly #transact: Transact;
  readonly #transactSerially: TransactSerially;
  // Polled often, so they are compiled once.
  readonly #behind: PreparedStatement;
  readonly #due: PreparedStatement;

  constructor({ read, transact, transactSerially }: Pick<Engine, "read" | "transact" | "transactSerially">) {
    this.#read = read;
    this.#transact = transact;
    this.#transactSerially = transactSerially;
    this.#behind = prepareBehind(read);
    this.#due = prepareDue(read);
  }

  async behind(): Promise<string[]> {
    const { rows } = await this.#behind(this.#read);
    return rows.map(([businessId]) => businessId as string);
  }

  fanOut(businessId: string, at: string, limit: number): Promise<number> {
    return this.#transactSerially(businessId, async (db) => {
      const endpoints = await selectEnabledEndpoints(db, businessId);
      if (endpoints.length === 0) return 0;
      const cursor = await readCursor(db, businessId);
      const from = Math.max(cursor, Math.min(...endpoints.map((endpoint) => endpoint.afterPosition)));
      const made: NewDelivery[] = [];
      let [seen, last] = [0, from];
      for (const { eventId, eventType, position } of await loadEventsAfter(db, businessId, from, limit)) {
        if (made.length >= limit) break;
        for (const { endpointId, eventTypes, afterPosition } of endpoints) {
          if (position <= afterPosition || !acceptsEventType(eventTypes, eventType)) continue;
          made.push({ businessId, endpointId, eventId, at, replay: false });
        }
        [seen, last] = [seen + 1, position];
      }
      if (seen === 0 || !(await moveCursor(db, businessId, cursor, last))) return 0;
      for (const delivery of made) await insertDelivery(db, delivery);
      return seen;
    });
  }

  async due(at: string): Promise<DueEndpoint[]> {
    const { rows } = await this.#due(this.#read, at);
    const waiting = rows.flatMap(([businessId, endpointId, firstFailureAt, ...times]): DueEndpoint[] => {
      const [since] = times.filter((time): time is string => typeof time === "string" && time <= at).sort();
      if (since === undefined) return [];
      const key = { businessId: businessId as string, endpointId: endpointId as string };
      return [{ ...key, since, failing: firstFailureAt !== null }];
    });
    return waiting.sort((a, b) => (a.since < b.since ? -1 : 1));
  }

  exchange({ outcomes, endpointGroups, at, leaseUntil }: DeliveryExchange): Promise<ExchangeResult> {
    return this.#transact(async (db) => {
      await holdEndpoints(
        db,
        outcomes.map(({ lease }) => lease),
      );
      const failing = await settle(db, outcomes, at);
      return { failing, leases: await leaseEndpointDeliveries(db, endpointGroups, at, leaseUntil) };
    });
  }

  async giveBack(leases: readonly Lease[], dueAt: string): Promise<void> {
    if (leases.length === 0) return;
    await this.#transact(async (db) => {
      await holdEndpoints(db, leases);
      for (const lease of leases) {
        await matchLease(db, lease)
          .set({ status: "pending", dueAt, leaseId: null, leaseUntil: null })
          .where("status", "=", "leased")
          .execute();
      }
    });
  }

  async lastPosition(businessId: string): Promise<number> {
    const { last } = await this.#read
      .selectFrom("events")
      .select((eb) => eb.fn.max("position").as("last"))
      .where("businessId", "=", businessId)
      .executeTakeFirstOrThrow();
    return Number(last ?? 0);
  }

  async eventsBefore(businessId: string, position: number | undefined, limit: number): Promise<PlacedEvent[]> {
    const ofTenant = this.#read.selectFrom("events").where("businessId", "=", businessId);
    const rows = await (position === undefined ? ofTenant : ofTenant.where("position", "<", position))
      .select(["eventId", "eventType", "position", "timestamp"])
      .orderBy("position", "desc")
      .limit(limit)
      .execute();
    return rows.map(toPlacedEvent);
  }

  replay({ businessId, endpointId, eventIds, arrivedToo, at }: ReplayRequest): Promise<number> {
    const inTheWay = ["pending", "leased", ...(arrivedToo ? [] : ["delivered"])];
    return this.#transactSerially(businessId, async (db) => {
      if (!(await selectEnabledEndpoints(db, businessId)).some((endpoint) => endpoint.endpointId === endpointId))
        return 0;
      const skipped = await db
        .selectFrom("webhookDeliveries")
        .select("eventId")
        .where("businessId", "=", businessId)
        .where("eventId", "in", [...eventIds])
        .where("endpointId", "=", endpointId)
        .where("status", "in", inTheWay)
        .execute();
      const wanted = new Set(eventIds).difference(new Set(skipped.map((row) => row["eventId"])));
      for (const eventId of wanted) await insertDelivery(db, { businessId, endpointId, eventId, at, replay: true });
      const { numUpdatedRows: hastened } = await db
        .updateTable("webhookDeliveries")
        .set({ dueAt: at })
        .where("businessId", "=", businessId)
        .where("eventId", "in", [...eventIds])
        .where("endpointId", "=", endpointId)
        .where("status", "=", "pending")
        .where("dueAt", ">", at)
        .executeTakeFirstOrThrow();
      return wanted.size + Number(hastened);
    });
  }

  async listDeliveries(businessId: string, filter: DeliveryFilter, limit: number): Promise<ListedDelivery[]> {
    let select = this.#listed(businessId);
    if (filter.endpointId !== undefined) select = select.where("d.endpointId", "=", filter.endpointId);
    if (filter.status !== undefined) select = select.where("d.status", "=", filter.status);
    const rows = await select.orderBy("d.createdAt", "desc").orderBy("d.deliveryId", "desc").limit(limit).execute();
    return rows.map(toListedDelivery);
  }

  async getDelivery(businessId: string, deliveryId: string): Promise<ListedDelivery | undefined> {
    const row = await this.#listed(businessId).where("d.deliveryId", "=", deliveryId).executeTakeFirst();
    return row && toListedDelivery(row);
  }

  async listAttempts(businessId: string, deliveryId: string): Promise<WebhookAttempt[]> {
    const rows = await this.#read
      .selectFrom("webhookAttempts")
      .select([...attemptCodec.names])
      .where("businessId", "=", businessId)
      .where("deliveryId", "=", deliveryId)
      .orderBy("attemptId")
      .execute();
    return rows.map((row) => attemptCodec.decode(row));
  }

  #listed(businessId: string) {
    return this.#read
      .selectFrom("webhookDeliveries as d")
      .innerJoin("events as v", (join) =>
        join.onRef("v.businessId", "=", "d.businessId").onRef("v.eventId", "=", "d.eventId"),
      )
      .where("d.businessId", "=", businessId)
      .select(deliveryCodec.names.map((name) => `d.${name}` as const))
      .select("v.eventType");
  }
}

function toListedDelivery(row: StoredRow): ListedDelivery {
  return { ...deliveryCodec.decode(row), eventType: row["eventType"] as string };
}

function toPlacedEvent(row: StoredRow): PlacedEvent {
  const { eventId, eventType, timestamp } = row as unknown as PlacedEvent;
  return { eventId, eventType, timestamp, position: Number(row["position"]) };
}

function matchEndpoint(eb: ExpressionBuilder<Database & Record<"e", Record<string, unknown>>, "e">) {
  return eb
    .selectFrom("webhookDeliveries as d")
    .whereRef("d.businessId", "=", "e.businessId")
    .whereRef("d.endpointId", "=", "e.endpointId");
}

async function selectEnabledEndpoints(db: Db, businessId: string) {
  const rows = await db
    .selectFrom("webhookEndpoints")
    .select([...endpointCodec.names])
    .where("businessId", "=", businessId)
    .where("status", "=", "enabled")
    .execute();
  return rows.map((row) => endpointCodec.decode(row));
}

function acceptsEventType(eventTypes: readonly EventType[], eventType: string): boolean {
  return eventTypes.length === 0 || (Object.hasOwn(events, eventType) && eventTypes.includes(eventType as EventType));
}

async function readCursor(db: Db, businessId: string): Promise<number> {
  const cursor = db.selectFrom("webhookCursors").select("position").where("businessId", "=", businessId);
  const row = await cursor.executeTakeFirst();
  return Number(row?.["position"] ?? 0);
}

/** Returns false if another process has moved the cursor since. */
async function moveCursor(db: Db, businessId: string, from: number, to: number): Promise<boolean> {
  await db
    .insertInto("webhookCursors")
    .values({ businessId, position: 0 })
    .onConflict((conflict) => conflict.column("businessId").doNothing())
    .execute();
  const { numUpdatedRows } = await db
    .updateTable("webhookCursors")
    .set({ position: to })
    .where("businessId", "=", businessId)
    .where("position", "=", from)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

async function loadEventsAfter(db: Db, businessId: string, position: number, limit: number): Promise<PlacedEvent[]> {
  const rows = await db
    .selectFrom("events")
    .select(["eventId", "eventType", "position", "timestamp"])
    .where("businessId", "=", businessId)
    .where("position", ">", position)
    .orderBy("position")
    .limit(limit)
    .execute();
  return rows.map(toPlacedEvent);
}

interface NewDelivery {
  readonly businessId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly at: string;
  readonly replay: boolean;
}

async function insertDelivery(db: Db, { at, replay, ...key }: NewDelivery): Promise<void> {
  const state = { status: "pending", attempt: 0, replay: Number(replay), dueAt: at, createdAt: at, updatedAt: at };
  await db
    .insertInto("webhookDeliveries")
    .values({ deliveryId: createId("dlv", Date.parse(at)), ...key, ...state })
    .execute();
}

/** Selects the delivery while it has this lease. */
function matchLease(db: Db, { businessId, deliveryId, leaseId }: Lease) {
  return db
    .updateTable("webhookDeliveries")
    .where("businessId", "=", businessId)
    .where("deliveryId", "=", deliveryId)
    .where("leaseId", "=", leaseId);
}

async function settle(db: Db, outcomes: readonly DeliveryOutcome[], at: string): Promise<FailingEndpoint[]> {
  for (const outcome of outcomes) await recordOutcome(db, outcome, at);
  const failing: FailingEndpoint[] = [];
  for (const own of Map.groupBy(outcomes, ({ lease }) => lease.endpointId).values()) {
    const firstFailureAt = await markEndpoint(db, own, at);
    const { businessId, endpointId } = (own[0] as DeliveryOutcome).lease;
    if (firstFailureAt !== undefined) failing.push({ businessId, endpointId, firstFailureAt });
  }
  return failing;
}

async function recordOutcome(db: Db, outcome: DeliveryOutcome, at: string): Promise<void> {
  const { lease, startedAt, durationMs, statusCode, error, answer, next } = outcome;
  const { businessId, deliveryId } = lease;
  // Derived from the lease, because an attempt is recorded again when its commit is uncertain.
  const attemptId = lease.leaseId.replace(/^[a-z]+/, "att");
  const attempt = { attemptId, deliveryId, startedAt, durationMs, statusCode, error, answer };
  await db
    .insertInto("webhookAttempts")
    .values({ businessId, ...attempt })
    .onConflict((conflict) => conflict.columns(["businessId", "deliveryId", "attemptId"]).doNothing())
    .execute();
  const own = matchLease(db, lease).set({
    status: next.status,
    attempt: lease.attempt + 1,
    leaseId: null,
    leaseUntil: null,
    lastStatusCode: statusCode,
    lastError: error,
    updatedAt: at,
    ...(next.status === "pending" ? { dueAt: next.dueAt } : {}),
    ...(next.status === "delivered" ? { deliveredAt: at } : {}),
  });
  // A delivered event stays delivered, even if the delivery was cancelled during the attempt.
  await (next.status === "delivered" ? own : own.where("status", "=", "leased")).execute();
}

/** Stores since when attempts of an endpoint have failed, from its outcomes in their order. A success clears it. */
async function markEndpoint(db: Db, outcomes: readonly DeliveryOutcome[], at: string): Promise<string | undefined> {
  const [{ businessId, endpointId }] = outcomes.map(({ lease }) => lease) as [Lease];
  const own = db.updateTable("webhookEndpoints").where("businessId", "=", businessId);
  const enabled = own.where("endpointId", "=", endpointId).where("status", "=", "enabled");
  if (outcomes.some(({ error }) => error === null)) {
    await enabled.set({ firstFailureAt: null }).where("firstFailureAt", "is not", null).execute();
  }
  const pausedUntil = outcomes.findLast(({ pauseUntil }) => pauseUntil !== undefined)?.pauseUntil;
  if (pausedUntil !== undefined) await enabled.set({ pausedUntil }).execute();
  if (outcomes.at(-1)?.error === null) return undefined;
  const row = await enabled
    .set({ firstFailureAt: sql`coalesce(${sql.ref("firstFailureAt")}, ${at})` })
    .returning("firstFailureAt")
    .executeTakeFirst();
  return row?.["firstFailureAt"] as string | undefined;
}
