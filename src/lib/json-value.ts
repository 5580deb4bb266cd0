/** Returns whether a value is an object in the sense of JSON. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a value if it is text, and `null` for any other. */
export function toTextOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
