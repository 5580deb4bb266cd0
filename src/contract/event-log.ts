import * as z from "zod";
import type { Scope } from "./access/scopes.ts";
import { DateFrom, FreeForm, Id, Timestamp } from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";
import { Cursor, pageQuery } from "./definition/page.ts";
import { type EventType, events } from "./events.ts";

/** The scope that shows events of a type: the scope of the record that they describe. */
const scopesByType: Readonly<Record<EventType, Scope>> = {
  "applicant.registered": "applicants:read",
  "submission.draft_created": "submissions:read",
  "submission.submitted": "submissions:read",
  "submission.withdrawn": "submissions:read",
  "submission.state_changed": "submissions:read",
  "supplement.response.submitted": "supplements:read",
  "payment.succeeded": "payments:read",
  "payment.failed": "payments:read",
  "payment.waived": "payments:read",
  "review.submitted": "reviews:read",
  "feedback.released": "feedback:read",
  "program.lifecycle_status_changed": "programs:read",
};

/** The kind of all event types that the interface does not declare. A remote service may have more. */
const otherKind = "other";
/** Shows undeclared event types, because audit entries show all changes. */
const otherScope: Scope = "audit:read";

/**
 * Returns the kind of an event, which decides who may see it: its type if the interface declares it, or else `other`.
 */
export function getEventKind(eventType: string): string {
  return Object.hasOwn(events, eventType) ? eventType : otherKind;
}

/** Returns the kinds of events that the scopes show. */
export function listVisibleKinds(scopes: ReadonlySet<Scope>): string[] {
  const kinds = Object.entries(scopesByType).filter(([, scope]) => scopes.has(scope));
  return [...kinds.map(([kind]) => kind), ...(scopes.has(otherScope) ? [otherKind] : [])];
}

export function getEventScope(eventType: string): Scope {
  return Object.hasOwn(events, eventType) ? scopesByType[eventType as EventType] : otherScope;
}

/** The fields that events of every type and source have (specification 6.2). */
export const EventFields = z.object({
  eventId: Id,
  eventType: z.string(),
  timestamp: Timestamp,
  /** Ids and states. */
  data: FreeForm,
});
export type EventFields = z.output<typeof EventFields>;

/** Returns the id of the submission that an event describes. */
export function getSubmissionId({ data }: { readonly data: object }): string | undefined {
  const { submissionId } = data as { submissionId?: unknown };
  return typeof submissionId === "string" ? submissionId : undefined;
}

export const LoggedEvent = z.object({
  ...EventFields.shape,
  /** When it was received, and by which webhook. Absent for events of the embedded service. */
  receivedAt: Timestamp.optional(),
  webhook: z.string().optional(),
});
export type LoggedEvent = z.output<typeof LoggedEvent>;

/** Scopes, each of which shows some events. */
export const eventScopes: readonly Scope[] = [...new Set([...Object.values(scopesByType), otherScope])];
const [scope, ...anyOfScopes] = eventScopes;

/** An addition to the interface, for agents that cannot receive webhooks. */
export const list_events = operation({
  summary: "List events",
  description: "Latest first; with since, oldest first. type: e.g. payment.failed. cursor: lastEvaluatedKey.",
  method: "GET",
  path: "/events",
  resource: "programme://events",
  scope: scope as Scope,
  anyOfScopes,
  effect: "read",
  query: {
    since: DateFrom.optional(),
    type: z.string().min(1).max(100).optional(),
    submissionId: Id.optional(),
    limit: pageQuery.limit,
    cursor: Cursor.optional(),
    lastEvaluatedKey: pageQuery.lastEvaluatedKey,
  },
  data: z.array(LoggedEvent),
  audit: "event.listed",
  errors: ["invalid_cursor", "tool_not_offered"],
});
