import type { DeliveryError, DeliveryStatus, WebhookAttempt, WebhookDelivery } from "../../contract/webhooks.ts";

/** An endpoint, among all tenants'. */
export interface EndpointKey {
  readonly businessId: string;
  readonly endpointId: string;
}

/** An endpoint for which deliveries are due, or were left behind by a process that ended. */
export interface DueEndpoint extends EndpointKey {
  /** Since when. */
  readonly since: string;
  /** Whether its last attempts failed. */
  readonly failing: boolean;
}

/** Endpoints that share some slots, so that they cannot use up others'. */
export interface EndpointLeases {
  /** First served first. */
  readonly endpoints: readonly EndpointKey[];
  /** Deliveries to lease in all. */
  readonly limit: number;
  /** Deliveries that one endpoint may have leased at once, in all processes. */
  readonly atOnce: number;
}

/** A delivery that one process alone may attempt until the lease ends. */
export interface Lease extends EndpointKey {
  readonly deliveryId: string;
  readonly leaseId: string;
  readonly eventId: string;
  /** Attempts made before. */
  readonly attempt: number;
  /** The body to send: the event as it was written. */
  readonly payload: string;
}

/** What came of an attempt, and what follows. */
export interface DeliveryOutcome {
  readonly lease: Lease;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly error: DeliveryError | null;
  readonly answer: string | null;
  /** `dueAt` of the next attempt, if there is one. */
  readonly next: { readonly status: "delivered" | "failed" } | { readonly status: "pending"; readonly dueAt: string };
  /** Until when nothing at all is to be sent to the endpoint. */
  readonly pauseUntil?: string | undefined;
}

export interface FailingEndpoint extends EndpointKey {
  readonly firstFailureAt: string;
}

export interface DeliveryExchange {
  readonly outcomes: readonly DeliveryOutcome[];
  readonly lanes: readonly EndpointLeases[];
  readonly at: string;
  readonly leaseUntil: string;
}

export interface Exchanged {
  readonly leases: readonly Lease[];
  /** The enabled endpoints to which the last of the attempts failed. */
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
  /** Send even what has arrived already. */
  readonly arrivedToo: boolean;
  readonly at: string;
}

/** An event with its place among its tenant's. */
export interface PlacedEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly position: number;
  readonly timestamp: string;
}

/** Events on their way to endpoints. Of several processes on one database each may call all of it at any time. */
export interface Outbox {
  /** Tenants with events for which no deliveries have been made yet. */
  behind(): Promise<string[]>;
  /**
   * Makes a delivery for each enabled endpoint that takes the type of an event: exactly one per event and endpoint,
   * whoever else does the same. Stops after the event with which it has made `limit` or looked at as many.
   * @returns how many events were looked at
   */
  fanOut(businessId: string, at: string, limit: number): Promise<number>;
  /** Enabled endpoints that wait for an attempt, the longest waiting first. */
  due(at: string): Promise<DueEndpoint[]>;
  /**
   * Records attempts and leases further deliveries to this process, in one transaction. What has been leased anew to
   * another process or cancelled meanwhile keeps its state.
   */
  exchange(exchange: DeliveryExchange): Promise<Exchanged>;
  /** Gives leases back without an attempt; due again at `dueAt`. */
  giveBack(leases: readonly Lease[], dueAt: string): Promise<void>;
  /** The place of a tenant's latest event; 0 without any. */
  lastPosition(businessId: string): Promise<number>;
  /** Events before a place (the latest without one), latest first. */
  eventsBefore(businessId: string, position: number | undefined, limit: number): Promise<PlacedEvent[]>;
  /**
   * Makes further deliveries of events, but not of those on their way to the endpoint: what waits for its next attempt
   * is due at once instead.
   * @returns of how many events it did either
   */
  replay(request: ReplayRequest): Promise<number>;
  /** The latest deliveries first. */
  listDeliveries(businessId: string, filter: DeliveryFilter, limit: number): Promise<ListedDelivery[]>;
  getDelivery(businessId: string, deliveryId: string): Promise<ListedDelivery | undefined>;
  /** The attempts of a delivery, oldest first. */
  listAttempts(businessId: string, deliveryId: string): Promise<WebhookAttempt[]>;
}
