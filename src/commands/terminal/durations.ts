import { DateFrom } from "../../contract/definition/fields.ts";

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };

/** A span of time as an option gives it, `30d` or `12h`, in milliseconds; `undefined` for anything else. */
export function parseDuration(text: string): number | undefined {
  const span = /^(\d{1,5})([hd])$/.exec(text);
  return span ? Number(span[1]) * (unitMs[span[2] as string] as number) : undefined;
}

/** A date or an RFC 3339 time, in epoch milliseconds; `undefined` for anything else. */
export function parseTime(text: string): number | undefined {
  const time = DateFrom.safeParse(text);
  return time.success ? Date.parse(time.data) : undefined;
}
