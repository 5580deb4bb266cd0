import { DateFrom } from "../../contract/definition/fields.ts";

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };

/** Parses a duration such as `30d` or `12h` to milliseconds. Returns undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const span = /^(\d{1,5})([hd])$/.exec(text);
  return span ? Number(span[1]) * (unitMs[span[2] as string] as number) : undefined;
}

/** Parses a date or an RFC 3339 time to epoch milliseconds. Returns undefined for anything else. */
export function parseTime(text: string): number | undefined {
  const time = DateFrom.safeParse(text);
  return time.success ? Date.parse(time.data) : undefined;
}
