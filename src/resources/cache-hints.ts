/** The time for which a client may cache lists, in milliseconds. Lists that depend only on scopes change rarely. */
const [listTtlMs, scopeTtlMs] = [60_000, 300_000];

/** Cache hints for the server's options. */
export const resourceCacheHints = {
  // A cached record has an outdated version, with which every change is rejected.
  "resources/read": { ttlMs: 0, cacheScope: "private" },
  "resources/list": { ttlMs: listTtlMs, cacheScope: "private" },
  "resources/templates/list": { ttlMs: scopeTtlMs, cacheScope: "private" },
  "prompts/list": { ttlMs: scopeTtlMs, cacheScope: "private" },
} as const;
