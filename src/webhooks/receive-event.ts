import * as z from "zod";
import { DateTime } from "../contract/definition/fields.ts";
import type { EventFields } from "../contract/event-log.ts";
import { events } from "../contract/events.ts";

/** The required form of a delivery's body (specification 6.2). */
const Delivery = z.object({
  eventId: z.string().regex(/^[\x21-\x7e]{1,255}$/),
  eventType: z
    .string()
    .max(100)
    .regex(/^[A-Za-z]\w*(\.\w+)*$/),
  timestamp: DateTime,
  data: z.record(z.string(), z.unknown()),
});

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Parses the event in a body; returns undefined if the body is not an event. */
export function parseEvent(body: Buffer): EventFields | undefined {
  try {
    const delivery = Delivery.parse(JSON.parse(decoder.decode(body)));
    return { ...delivery, data: reduceData(delivery.data) };
  } catch {
    return undefined;
  }
}

const declared: ReadonlySet<string> = new Set(Object.values(events).flatMap(({ shape }) => Object.keys(shape)));
const [maxProperties, maxNameChars] = [60, 64];

/**
 * Keeps ids, states, times and numbers of an event's data, whose form the specification does not define. Names and texts
 * are read from the service when they are needed, with the caller's scopes.
 */
function reduceData(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fields = Object.entries(data).filter(([name, value]) => isKeptName(name) && isPlain(value));
  return Object.fromEntries(fields.slice(0, maxProperties));
}

function isKeptName(name: string): boolean {
  return declared.has(name) || (name.length <= maxNameChars && /^[a-z]\w*?(Id|State|Status|Type|At)$/.test(name));
}

/** Returns whether a value is a single word without `@`, a number, a boolean or null. */
function isPlain(value: unknown): boolean {
  if (typeof value === "string") return /^[\x21-\x3f\x41-\x7e]{0,255}$/.test(value);
  return value === null || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}
