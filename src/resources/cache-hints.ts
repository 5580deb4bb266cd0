/** How long a client may keep lists, in milliseconds; what depends on scopes alone changes rarely. */
const [listTtlMs, scopeTtlMs] = [60_000, 300_000];

/** For the server's options. */
export const resourceCacheHints = {
  // A change made for a version that is no longer the record's is refused: old ones are of no use.
  "resources/read": { ttlMs: 0, cacheScope: "private" },
  "resources/list": { ttlMs: listTtlMs, cacheScope: "private" },
  "resources/templates/list": { ttlMs: scopeTtlMs, cacheScope: "private" },
  "prompts/list": { ttlMs: scopeTtlMs, cacheScope: "private" },
} as const;
