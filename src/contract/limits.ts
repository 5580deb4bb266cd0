/** Limits of the specification's section 8, and those of records that it does not name; some are settings' defaults. */
export const limits = {
  requestsPerMinute: 300,
  exportIntervalSeconds: 300,
  idempotencyTtlSeconds: 24 * 60 * 60,
  idempotencyKeyChars: 255,
  maxBodyBytes: 1024 * 1024,
  /** Nesting of free-form JSON; deeper bodies are refused. */
  maxJsonDepth: 32,
  /** Arguments of one call, known or not. */
  maxArguments: 200,
  /** Values in one request's JSON, however they are nested. */
  maxJsonValues: 5_000,
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
  /** Rows of a list where a tool call does not say how many: what a context has room for. */
  toolRows: 20,
  /** Rows that one tool call gathers from all pages. */
  gatheredRows: 1000,
  /** Values of fields, and what a schema may allow (specification 2.6 and 4.9). */
  fieldChars: 32768,
  fieldItems: 100,
  fieldItemChars: 512,
  /** More than any programme has rounds, or any submission files or supplement responses: a bound, not a page. */
  listedRounds: 1000,
  listedFiles: 1000,
  listedSupplements: 1000,
  /** More reviews than any submission has: what a summary counts. */
  summarizedReviews: 10_000,
  /** Areas of expertise that a reviewer collects over many invitations. */
  expertise: 100,
  /** Files of a submission or a supplement response. */
  attachedFiles: 100,
  /** How long the link of an invitation works. */
  invitationSeconds: 14 * 24 * 60 * 60,
} as const;
