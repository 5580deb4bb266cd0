/** Limits of the specification's section 8, and limits that it does not name. Some are defaults of settings. */
export const limits = {
  requestsPerMinute: 300,
  exportIntervalSeconds: 300,
  idempotencyTtlSeconds: 24 * 60 * 60,
  idempotencyKeyChars: 255,
  maxBodyBytes: 1024 * 1024,
  /** Most levels of nested JSON; deeper bodies are rejected. */
  maxJsonDepth: 32,
  /** Most arguments of one call, known or unknown. */
  maxArguments: 200,
  /** Most values in one request's JSON, at all levels. */
  maxJsonValues: 5_000,
  expandedFieldIds: 25,
  expandedRows: 100,
  exportedPersons: 500,
  /** Lifetime of a file's download link. */
  fileLinkSeconds: 15 * 60,
  /** Lifetime of an export's download link: about an hour (specification 2.7). */
  exportLinkSeconds: 60 * 60,
  /** The time for which the file of a completed export is stored. */
  exportRetentionSeconds: 7 * 24 * 60 * 60,
  maxExportBytes: 2 * 1024 ** 3,
  bulkAssignments: 500,
  /** Default rows of a list for tool calls, which fits an agent's context. */
  toolRows: 20,
  /** Most rows that one tool call collects from several pages. */
  gatheredRows: 1000,
  /** Bounds of field values and of what a schema may allow (specification 2.6 and 4.9). */
  fieldChars: 32768,
  fieldItems: 100,
  fieldItemChars: 512,
  /** Bounds of lists without pages; no programme or submission comes near them. */
  listedRounds: 1000,
  listedFiles: 1000,
  listedSupplements: 1000,
  /** Most reviews of one submission in a summary; none comes near it. */
  summarizedReviews: 10_000,
  /** Most areas of expertise of a reviewer, added up over all invitations. */
  expertise: 100,
  /** Most files of a submission or a supplement response. */
  attachedFiles: 100,
  /** Lifetime of an invitation link. */
  invitationSeconds: 14 * 24 * 60 * 60,
} as const;
