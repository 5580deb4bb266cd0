import * as z from "zod";
import { limits } from "../access/limits.ts";
import { contactDetail, freeForm } from "./field-annotations.ts";

/** An opaque identifier, for example `sub_01JD…`. */
export const Id = z.string().min(1).max(255);

/** Optimistic-lock counter of a record (specification 9.5). */
export const Version = z.int().min(0);

/** A point in time in responses: `2026-11-20T04:01:05.123Z`. */
export const Timestamp = z.iso.datetime();

/**
 * A point in time in requests: RFC 3339 with any offset, in upper or lower case. It is stored as UTC with milliseconds,
 * in years 0 to 9999.
 */
export const DateTime = z
  .string()
  .check(
    z.toUpperCase(),
    z.iso.datetime({ offset: true, error: "Expected an RFC 3339 date-time, as in 2026-11-20T09:00:00Z" }),
  )
  .transform((value) => new Date(value).toISOString())
  .pipe(Timestamp);

/** Returns a schema of text from `min` to `max` characters (specification 2 and 4). */
export const boundedText = (max: number, min = 0) => z.string().min(min).max(max);

export const Reason = boundedText(1000, 1);
export const OptionalReason = boundedText(1000).optional();

/** The specification's bound for persons is 255. RFC 5321 allows an address of at most 254 characters. */
export const Email = contactDetail(z.email().max(255), "email");

/** A free-form JSON object. */
export const FreeForm = freeForm(z.record(z.string(), z.unknown()));

/** The value of a field of type date (specification 2.6): `YYYY-MM-DD`. A date-time would be another day elsewhere. */
export const CalendarDate = z.iso.date();

/** A date in a query: `YYYY-MM-DD` (start of that day, UTC) or RFC 3339. */
export const DateFrom = toQueryDate("T00:00:00.000Z");

/** A date in a query: `YYYY-MM-DD` (end of that day, UTC, inclusive) or RFC 3339. */
export const DateTo = toQueryDate("T23:59:59.999Z");

function toQueryDate(dayTime: string) {
  return z
    .string()
    .max(40)
    .transform((value, context) => {
      const time = DateTime.safeParse(CalendarDate.safeParse(value).success ? value + dayTime : value);
      if (time.success) return time.data;
      context.issues.push({ code: "custom", message: "Expected YYYY-MM-DD or an RFC 3339 date-time", input: value });
      return z.NEVER;
    });
}

/** Comma-separated custom-field ids (specification 4.3): at most 25, counted before repeated ids are removed. */
export const PersonFieldIds = z
  .string()
  .max(limits.expandedFieldIds * 256)
  .transform((value, context) => {
    const ids = value
      .split(",")
      .map((id) => id.trim())
      .filter((id) => id !== "");
    if (ids.length >= 1 && ids.length <= limits.expandedFieldIds) return [...new Set(ids)];
    context.issues.push({
      code: "custom",
      message: `Expected 1 to ${limits.expandedFieldIds} comma-separated field ids`,
      input: value,
    });
    return z.NEVER;
  })
  .describe("comma-separated; needs persons:read");

/** Fields of every record that can change. */
export const common = {
  businessId: Id,
  version: Version,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  createdBy: z.string(),
  updatedBy: z.string(),
};
