import * as z from "zod";
import { Id, Timestamp } from "../../contract/definition/fields.ts";
import { EventFields } from "../../contract/event-log.ts";

/** Filters a tenant's event log. `undefined` is ignored. */
export interface EventFilter {
  /** Lists oldest first from this time on, instead of latest first. */
  readonly since?: string | undefined;
  readonly type?: string | undefined;
  readonly submissionId?: string | undefined;
  /** See `listVisibleKinds`. */
  readonly kinds: readonly string[];
}

/** An event in a tenant's log: one of its own, or one received by a webhook. */
export const LogEntry = z.object({
  eventId: Id,
  /** Time of the event, or of its arrival if it was received. */
  at: Timestamp,
  /** The webhook that received it. */
  webhook: z.string().nullable(),
  payload: EventFields,
  /** The number of the commit that wrote it. Null for events from before commits were numbered. */
  commitNumber: z.int().nullable(),
});
export type LogEntry = z.output<typeof LogEntry>;

/** A received event. */
export interface IncomingEvent extends EventFields {
  readonly webhook: string;
}

export interface InboxBounds {
  /** Events received before this time are deleted. */
  readonly notBefore: string;
  /** Only this many of the latest events are retained. */
  readonly maxEvents: number;
}

/** Events that are received by webhooks. */
export interface Inbox {
  /**
   * Stores an event in a tenant's log, and deletes events beyond the limits. The event gets a position after all
   * earlier arrivals, whatever the clocks of the processes say.
   * @returns false for an event that is already in the log
   */
  keep(businessId: string, event: IncomingEvent, at: string, bounds: InboxBounds): Promise<boolean>;
}
