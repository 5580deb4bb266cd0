import * as z from "zod";
import { DateFrom, FreeForm, Id, Timestamp } from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";
import { Cursor, pageQuery } from "./definition/page.ts";
import { type EventType, events } from "./events.ts";
import type { Scope } from "./scopes.ts";

/** The scope that shows events of a type: that of what they tell about. */
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

/** All types together that the interface does not declare: a service may come to have more. */
const otherKind = "other";
/** Shows those, because it shows whatever happens. */
const otherScope: Scope = "audit:read";

/** What decides who sees an event: its type, if the interface declares it. */
export function getEventKind(eventType: string): string {
  return Object.hasOwn(events, eventType) ? eventType : otherKind;
}

/** The kinds of event that these scopes show. */
export function listVisibleKinds(scopes: ReadonlySet<Scope>): string[] {
  const kinds = Object.entries(scopesByType).filter(([, scope]) => scopes.has(scope));
  return [...kinds.map(([kind]) => kind), ...(scopes.has(otherScope) ? [otherKind] : [])];
}

/** The scope that shows events of this type. */
export function getEventScope(eventType: string): Scope {
  return Object.hasOwn(events, eventType) ? scopesByType[eventType as EventType] : otherScope;
}

/** What is known of an event, of whatever type and wherever it came from (specification 6.2). */
export const EventFields = z.object({
  eventId: Id,
  eventType: z.string(),
  /** When it happened. */
  timestamp: Timestamp,
  /** Ids and states. */
  data: FreeForm,
});
export type EventFields = z.output<typeof EventFields>;

/** The submission that an event tells of. */
export function getSubmissionId({ data }: { readonly data: object }): string | undefined {
  const { submissionId } = data as { submissionId?: unknown };
  return typeof submissionId === "string" ? submissionId : undefined;
}

/** An event as it is listed. */
export const LoggedEvent = z.object({
  ...EventFields.shape,
  /** When it came in, and by which webhook; absent of the embedded service's own. */
  receivedAt: Timestamp.optional(),
  webhook: z.string().optional(),
});
export type LoggedEvent = z.output<typeof LoggedEvent>;

/** Scopes that show some events each. */
export const eventScopes: readonly Scope[] = [...new Set([...Object.values(scopesByType), otherScope])];
const [scope, ...anyOfScopes] = eventScopes;

/** Not of the interface: what happened, for agents that cannot be sent webhooks. */
export const list_events = operation({
  summary: "List events: what happened",
  description: "Latest first; with since, oldest first. type as payment.failed. cursor: lastEvaluatedKey.",
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
