/** The kinds of records that audit entries name in `entityType`, and their actions before the dot. */
export const entityTypes = [
  "app",
  "applicant",
  "approval",
  "assignment",
  "audit",
  "email_send",
  "event",
  "export",
  "feedback",
  "file",
  "invitation",
  "payment",
  "person",
  "person_schema",
  "product_token",
  "program",
  "record",
  "request",
  "review",
  "reviewer",
  "round",
  "rubric",
  "schema",
  "submission",
  "supplement",
  "suppression",
  "token",
  "track",
  "user",
  "webhook_delivery",
  "webhook_endpoint",
] as const;
export type EntityType = (typeof entityTypes)[number];

/** The name of an audit entry: entity type, dot, past participle. */
export type AuditAction = `${EntityType}.${string}`;
