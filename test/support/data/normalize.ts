const id = /\b([a-z]{3})_[0-9A-HJKMNP-TV-Z]{26}\b/g;

/** Returns whether a text is a record's id and nothing else. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && value.replace(id, "") === "" && value !== "";
}

export function idsIn(text: string): Set<string> {
  return new Set(text.match(id));
}

/**
 * The same value with ids numbered in their order of appearance, and without what differs each time: two tenants with
 * the same records give the same.
 */
export function normalizeIds(value: unknown): unknown {
  const numbers = new Map<string, number>();
  const text = JSON.stringify(value)
    .replace(id, (found, prefix: string) => {
      const number = numbers.get(found) ?? numbers.size + 1;
      numbers.set(found, number);
      return `${prefix}#${number}`;
    })
    .replace(/\bbiz_\w+/g, "biz")
    .replace(/signature=[\w-]+/g, "signature");
  return JSON.parse(text);
}
