import * as z from "zod";
import { Id, Timestamp } from "../../contract/definition/fields.ts";
import { EventFields } from "../../contract/event-log.ts";

/** Which of the events that a tenant's log shows; `undefined` is no condition. */
export interface EventFilter {
  /** Listed oldest first from then on, rather than latest first. */
  readonly since?: string | undefined;
  readonly type?: string | undefined;
  readonly submissionId?: string | undefined;
  /** See `visibleKinds`. */
  readonly kinds: readonly string[];
}

/** An event in a tenant's log: one of its own, or one that came in by a webhook. */
export const LogEntry = z.object({
  eventId: Id,
  /** When it happened; of what came in, when it did. */
  at: Timestamp,
  /** By which it came in. */
  webhook: z.string().nullable(),
  payload: EventFields,
  /** Of the transaction that wrote it; none for what was there before turns were counted. */
  turn: z.int().nullable(),
});
export type LogEntry = z.output<typeof LogEntry>;

/** An event that came in. */
export interface IncomingEvent extends EventFields {
  readonly webhook: string;
}

export interface InboxBounds {
  /** What came in before is forgotten. */
  readonly notBefore: string;
  /** So is all but the latest ones of the log. */
  readonly maxEvents: number;
}

/** Events that come in by webhooks. */
export interface Inbox {
  /**
   * Keeps an event in a tenant's log, and forgets what is out of bounds there. In the log it stands behind all that came
   * in before, whatever the clocks of several processes say.
   * @returns false for an event that is known there already
   */
  keep(businessId: string, event: IncomingEvent, at: string, bounds: InboxBounds): Promise<boolean>;
}
