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
  /** How long a download link of a file works. */
  fileLinkSeconds: 15 * 60,
  /** How long one of an export works: about an hour (specification 2.7). */
  exportLinkSeconds: 60 * 60,
  /** How long the file of a completed export is kept. */
  exportRetentionSeconds: 7 * 24 * 60 * 60,
  maxExportBytes: 2 * 1024 ** 3,
  bulkAssignments: 500,
} as const;
