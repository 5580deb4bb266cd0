interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header (RFC 9110, section 14). Returns undefined for a header to ignore: another unit, several ranges
 * or no header. Returns `unsatisfiable` if no byte is in the range.
 */
export function parseRange(header: string | undefined, sizeBytes: number): Range | "unsatisfiable" | undefined {
  const match = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(header ?? "");
  if (!match) return undefined;
  const [, first = "", last = ""] = match;
  if (first === "" && last === "") return undefined;
  const start = first === "" ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const end = first === "" || last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (first !== "" && last !== "" && Number(last) < start) return undefined;
  return start > end || (first === "" && Number(last) === 0) ? "unsatisfiable" : { start, end };
}
