import type { DeliveryError, DeliveryStatus, WebhookAttempt, WebhookDelivery } from "../../contract/webhooks.ts";

/** Identifies an endpoint among those of all tenants. */
export interface EndpointKey {
  readonly businessId: string;
  readonly endpointId: string;
}

/** An endpoint with due deliveries, or with leases of a process that ended. */
export interface DueEndpoint extends EndpointKey {
  /** When the oldest of them became due. */
  readonly since: string;
  /** Its last attempts failed. */
  readonly failing: boolean;
}

/** Endpoints that share a number of leases, so that they cannot use up those of others. */
export interface EndpointLeases {
  /** Endpoints in the order in which they are served. */
  readonly endpoints: readonly EndpointKey[];
  /** Maximum number of deliveries to lease. */
  readonly limit: number;
  /** Maximum number of leased deliveries of one endpoint, in all processes. */
  readonly atOnce: number;
}

/** A delivery that only one process may attempt until the lease ends. */
export interface Lease extends EndpointKey {
  readonly deliveryId: string;
  readonly leaseId: string;
  readonly eventId: string;
  /** Number of earlier attempts. */
  readonly attempt: number;
  /** The body to send: the event as it was written. */
  readonly payload: string;
}

/** The result of an attempt, and the next state of the delivery. */
export interface DeliveryOutcome {
  readonly lease: Lease;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly error: DeliveryError | null;
  readonly answer: string | null;
  /** `dueAt` of the next attempt, if there is one. */
  readonly next: { readonly status: "delivered" | "failed" } | { readonly status: "pending"; readonly dueAt: string };
  /** Nothing is sent to the endpoint before this time. */
  readonly pauseUntil?: string | undefined;
}

export interface FailingEndpoint extends EndpointKey {
  readonly firstFailureAt: string;
}

export interface DeliveryExchange {
  readonly outcomes: readonly DeliveryOutcome[];
  readonly endpointGroups: readonly EndpointLeases[];
  readonly at: string;
  readonly leaseUntil: string;
}

export interface ExchangeResult {
  readonly leases: readonly Lease[];
  /** The enabled endpoints whose last attempt failed. */
  readonly failing: readonly FailingEndpoint[];
}

/** A delivery with the type of its event. */
export type ListedDelivery = WebhookDelivery & { readonly eventType: string };

export interface DeliveryFilter {
  readonly endpointId?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
}

export interface ReplayRequest extends EndpointKey {
  readonly eventIds: readonly string[];
  /** Sends events again that were already delivered. */
  readonly arrivedToo: boolean;
  readonly at: string;
}

/** An event with its position among its tenant's events. */
export interface PlacedEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly position: number;
  readonly timestamp: string;
}

/** Events and their deliveries to endpoints. Several processes on one database may call every method concurrently. */
export interface Outbox {
  /** Returns tenants with events that have no deliveries yet. */
  behind(): Promise<string[]>;
  /**
   * Creates one delivery for each event and each enabled endpoint that accepts its type, even if several processes do
   * the same. Stops after the event with which it has created `limit` deliveries or read `limit` events.
   * @returns the number of events read
   */
  fanOut(businessId: string, at: string, limit: number): Promise<number>;
  /** Returns enabled endpoints with due deliveries, the longest waiting first. */
  due(at: string): Promise<DueEndpoint[]>;
  /**
   * Records attempts and leases further deliveries to this process, in one transaction. A delivery that was leased to
   * another process or cancelled in between keeps its state.
   */
  exchange(exchange: DeliveryExchange): Promise<ExchangeResult>;
  /** Releases leases without an attempt. The deliveries are due again at `dueAt`. */
  giveBack(leases: readonly Lease[], dueAt: string): Promise<void>;
  /** Returns the position of a tenant's latest event, or 0. */
  lastPosition(businessId: string): Promise<number>;
  /** Returns events before a position (the latest without one), latest first. */
  eventsBefore(businessId: string, position: number | undefined, limit: number): Promise<PlacedEvent[]>;
  /**
   * Creates deliveries of earlier events. An event that is still being delivered to the endpoint is made due at once
   * instead.
   * @returns the number of events for which it did either
   */
  replay(request: ReplayRequest): Promise<number>;
  /** Lists deliveries, the latest first. */
  listDeliveries(businessId: string, filter: DeliveryFilter, limit: number): Promise<ListedDelivery[]>;
  getDelivery(businessId: string, deliveryId: string): Promise<ListedDelivery | undefined>;
  /** Lists the attempts of a delivery, oldest first. */
  listAttempts(businessId: string, deliveryId: string): Promise<WebhookAttempt[]>;
}
