import * as z from "zod";
import { DateTime } from "../contract/definition/fields.ts";
import type { EventFields } from "../contract/event-log.ts";
import { events } from "../contract/events.ts";

/** The body of a delivery (specification 6.2), as far as it must be right. */
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

/** The event in a body; nothing where it is none. */
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
 * Ids, states, times and numbers: that is all that is kept of an event's data, which the specification does not show.
 * What else a service may put there, like names and texts, is read from it when it is needed, with the caller's scopes.
 */
function reduceData(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(data).filter(([name, value]) => isTelling(name) && isPlain(value));
  return Object.fromEntries(kept.slice(0, maxProperties));
}

function isTelling(name: string): boolean {
  return declared.has(name) || (name.length <= maxNameChars && /^[a-z]\w*?(Id|State|Status|Type|At)$/.test(name));
}

/** One word, and no address. */
function isPlain(value: unknown): boolean {
  if (typeof value === "string") return /^[\x21-\x3f\x41-\x7e]{0,255}$/.test(value);
  return value === null || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}
