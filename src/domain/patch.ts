export function pickKeys<T extends object, K extends keyof T>(input: T, ...keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, input[key]])) as Pick<T, K>;
}

type Json = Readonly<Record<string, unknown>>;

/** Merges a patch into an object and its nested objects. Keys that the patch does not name stay; lists are replaced. */
export function mergeDeep<T extends Json>(target: T, patch: Json): T {
  const merged: Record<string, unknown> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    const before = merged[key];
    merged[key] = isObject(before) && isObject(value) ? mergeDeep(before, value) : value;
  }
  return merged as T;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
