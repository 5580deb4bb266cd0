/** Limits of the specification's section 8; configuration may change what one installation enforces. */
export const limits = {
  requestsPerMinute: 300,
  exportIntervalSeconds: 300,
  idempotencyTtlSeconds: 24 * 60 * 60,
  idempotencyKeyChars: 255,
  maxBodyBytes: 1024 * 1024,
  /** Nesting of free-form JSON; deeper bodies are refused. */
  maxJsonDepth: 32,
  expandedFieldIds: 25,
  expandedRows: 100,
  exportedPersons: 500,
  bulkAssignments: 500,
} as const;
