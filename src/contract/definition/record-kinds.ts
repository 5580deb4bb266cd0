/** Maps the end of a field's name, without `Id`, to the prefix of its ids: records have prefixed ULIDs. */
export const idPrefixes: Readonly<Record<string, string>> = {
  submission: "sub",
  program: "prg",
  track: "trk",
  round: "rnd",
  person: "per",
  reviewer: "rvw",
  assignment: "asg",
  reassignedfrom: "asg",
  review: "rev",
  feedback: "fbk",
  file: "fil",
  supplementresponse: "sup",
  supplementrequest: "srq",
  contributor: "ctb",
  payment: "pay",
  audit: "aud",
  emailsend: "eml",
  bulk: "blk",
  suppression: "spr",
  invitation: "inv",
  endpoint: "whe",
  export: "exp",
  token: "tok",
  applicant: "app",
  personschema: "psc",
  schema: "sch",
  rubric: "rub",
  business: "biz",
  criterion: "crt",
  field: "fld",
};

/** Returns the prefix of the ids that a field holds by its name, such as `prg` for `programId`. */
export function findIdPrefix(name: string): string | undefined {
  const noun = /^(\w+?)Ids?$/.exec(name)?.[1]?.toLowerCase();
  return noun && Object.entries(idPrefixes).find(([end]) => noun.endsWith(end))?.[1];
}

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
