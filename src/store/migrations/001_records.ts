import { sql } from "kysely";
import type { Db } from "../database.ts";

/** Column names by type, separated by spaces. Booleans are 0 and 1. Nested values and lists are JSON text. */
interface TableDefinition {
  readonly text?: string;
  readonly textOrNull?: string;
  readonly integer?: string;
  readonly integerOrNull?: string;
  readonly realOrNull?: string;
  /** Primary key and indexes. The tenant comes first, unless the table belongs to no tenant. */
  readonly key: string;
  readonly unique?: readonly string[];
  readonly indexes?: readonly (string | PartialIndex)[];
  readonly global?: true;
  /** Columns that hold, after the tenant, the primary key of the named table. */
  readonly references?: Readonly<Record<string, string>>;
}

/** A partial index over the rows that are searched by it. Other rows do not pay for it. */
interface PartialIndex {
  readonly columns: string;
  readonly where: string;
}

/** Columns of every record. Tables of tenants also get the tenant. */
const common = { text: "createdAt updatedAt createdBy updatedBy", integer: "version" };

/**
 * Indexes follow the lists: first the filters, then the order (`createdAt` or `updatedAt`, id), then columns that
 * decide further filters without reading the row.
 */
const records: Readonly<Record<string, TableDefinition>> = {
  programs: {
    text: "programId name lifecycleStatus branding assignmentRules",
    textOrNull: "description startDate endDate currency",
    integer: "year feeRequired screeningRequired",
    key: "programId",
    indexes: ["createdAt programId"],
  },
  schemas: {
    text: "schemaId name fields",
    textOrNull: "publishedAt",
    integer: "schemaVersion published",
    key: "schemaId schemaVersion",
    indexes: ["createdAt schemaId schemaVersion"],
  },
  rubrics: {
    text: "rubricId name criteria scoringMethod",
    integer: "rubricVersion published",
    key: "rubricId rubricVersion",
    indexes: ["createdAt rubricId rubricVersion"],
  },
  tracks: {
    text: "trackId programId name schemaId branding",
    textOrNull: "description intakeOpenDate intakeCloseDate currency",
    integer: "order intakeOpen schemaVersion",
    integerOrNull: "feeAmountMinor",
    key: "trackId",
    indexes: ["createdAt trackId", "programId createdAt trackId"],
    references: { programId: "programs", "schemaId schemaVersion": "schemas" },
  },
  rounds: {
    text: "roundId programId trackId name rubricId anonymity",
    textOrNull: "startDate endDate deadline",
    integer: "sequence active rubricVersion",
    key: "roundId",
    indexes: ["createdAt roundId", "programId sequence roundId", "trackId sequence roundId"],
    references: { programId: "programs", trackId: "tracks", "rubricId rubricVersion": "rubrics" },
  },
  persons: {
    text: "personId kinds customFields externalRefs provenance metadata",
    textOrNull: "primaryEmail contactDetails platformUserId anonymizedAt mergedIntoPersonId",
    integer: "customFieldSchemaVersion active",
    key: "personId",
    indexes: ["createdAt personId", "updatedAt personId", "platformUserId createdAt personId", "mergedIntoPersonId"],
    references: { mergedIntoPersonId: "persons" },
  },
  personSchemas: {
    text: "personSchemaId entityType fields",
    textOrNull: "publishedAt",
    integer: "schemaVersion published active",
    integerOrNull: "sourceSchemaVersion",
    key: "personSchemaId",
    indexes: ["createdAt personSchemaId", "active published createdAt personSchemaId"],
  },
  applicants: {
    text: "applicantId innovatorId email name programIds trackIds registeredAt",
    textOrNull: "personId",
    key: "applicantId",
    unique: ["innovatorId"],
    indexes: ["createdAt applicantId", "personId createdAt applicantId"],
    references: { personId: "persons" },
  },
  submissions: {
    text: "submissionId programId trackId state fields schemaId deadline innovatorId innovatorEmail innovatorName applicantId source fileIds",
    textOrNull:
      "currentRoundId title applicantPersonId stateReason previousState submittedAt screenedAt withdrawnAt decidedAt paymentStatus",
    integer: "schemaVersion",
    integerOrNull: "eligible",
    key: "submissionId",
    indexes: [
      "createdAt submissionId submittedAt",
      "programId createdAt submissionId submittedAt state currentRoundId",
      "trackId createdAt submissionId submittedAt state currentRoundId",
      "state createdAt submissionId submittedAt programId trackId",
      "currentRoundId createdAt submissionId submittedAt state",
      "updatedAt submissionId submittedAt",
      "programId updatedAt submissionId submittedAt state currentRoundId",
      "trackId updatedAt submissionId submittedAt state currentRoundId",
      "state updatedAt submissionId submittedAt programId trackId",
      "currentRoundId updatedAt submissionId submittedAt state",
      "applicantId createdAt submissionId",
      "applicantPersonId createdAt submissionId",
    ],
    references: {
      programId: "programs",
      trackId: "tracks",
      currentRoundId: "rounds",
      applicantPersonId: "persons",
    },
  },
  supplements: {
    text: "supplementResponseId submissionId supplementRequestId title audience schemaId fields fileIds status",
    textOrNull: "contributorId dueAt submittedAt closedAt reopenedAt",
    integer: "required",
    integerOrNull: "contributorIndex",
    key: "supplementResponseId",
    indexes: ["createdAt supplementResponseId", "submissionId createdAt supplementResponseId"],
    references: { submissionId: "submissions" },
  },
  files: {
    text: "fileId fileName contentType sha256 scanStatus uploadedAt",
    textOrNull: "submissionId supplementResponseId fieldId",
    integer: "sizeBytes",
    key: "fileId",
    indexes: ["createdAt fileId", "submissionId createdAt fileId", "supplementResponseId createdAt fileId"],
    references: { submissionId: "submissions", supplementResponseId: "supplements" },
  },
  payments: {
    text: "paymentId submissionId programId trackId currency status",
    textOrNull: "method provider providerRef failureCode paidAt waivedAt waivedBy",
    integer: "amountMinor",
    key: "paymentId",
    indexes: ["createdAt paymentId", "status createdAt paymentId", "submissionId createdAt paymentId"],
    references: { submissionId: "submissions" },
  },
  reviewers: {
    text: "reviewerId email expertise role status programIds roundIds invitedAt",
    textOrNull: "firstName lastName affiliation personId acceptedAt",
    integerOrNull: "maxAssignments",
    key: "reviewerId",
    indexes: ["createdAt reviewerId", "status createdAt reviewerId", "personId createdAt reviewerId"],
    references: { personId: "persons" },
  },
  invitations: {
    text: "invitationId reviewerId sha256 expiresAt",
    textOrNull: "usedAt",
    key: "invitationId",
    unique: ["sha256"],
    indexes: ["createdAt invitationId", "reviewerId createdAt invitationId"],
    references: { reviewerId: "reviewers" },
  },
  assignments: {
    text: "assignmentId programId trackId roundId submissionId reviewerId status source assignedAt",
    textOrNull: "reassignedFromId reason dueAt respondedAt completedAt removedAt conflictAttestation",
    integer: "active",
    key: "assignmentId",
    indexes: [
      "createdAt assignmentId active status",
      "programId createdAt assignmentId active status",
      "roundId createdAt assignmentId active status",
      "reviewerId createdAt assignmentId active status",
      "submissionId createdAt assignmentId active status",
      "status createdAt assignmentId active",
    ],
    references: { roundId: "rounds", submissionId: "submissions", reviewerId: "reviewers" },
  },
  reviews: {
    text: "reviewId assignmentId submissionId programId roundId reviewerId rubricId status scores recommendation",
    textOrNull: "overallComment confidentialComment submittedAt",
    integer: "rubricVersion",
    realOrNull: "totalScore weightedScore",
    key: "reviewId",
    indexes: [
      "createdAt reviewId",
      "submissionId createdAt reviewId roundId reviewerId",
      "roundId createdAt reviewId reviewerId",
      "reviewerId createdAt reviewId roundId",
      "programId createdAt reviewId",
      "assignmentId createdAt reviewId",
    ],
    references: { assignmentId: "assignments", submissionId: "submissions" },
  },
  feedbacks: {
    text: "feedbackId submissionId programId body",
    textOrNull: "roundId subject releasedAt releasedBy",
    integer: "released",
    key: "feedbackId",
    indexes: [
      "createdAt feedbackId",
      "released createdAt feedbackId",
      "programId released createdAt feedbackId",
      "submissionId released createdAt feedbackId",
    ],
    references: { submissionId: "submissions" },
  },
  emailSends: {
    text: "emailSendId recipientEmail recipientKind subject status queuedAt body",
    textOrNull: "programId submissionId template bulkId error sentAt",
    key: "emailSendId",
    indexes: ["createdAt emailSendId", "programId createdAt emailSendId", "status createdAt emailSendId"],
  },
  exports: {
    text: "exportId programId filters status scopes",
    textOrNull: "trackId persons sha256 errorCode completedAt tokenId",
    integerOrNull: "sizeBytes",
    key: "exportId",
    indexes: ["createdAt exportId", "status createdAt exportId"],
    references: { programId: "programs" },
  },
};

const others: Readonly<Record<string, TableDefinition>> = {
  businesses: { text: "businessId name createdAt", key: "businessId", global: true },
  settings: { text: "name value", key: "name", global: true },
  tokens: {
    text: "tokenId businessId name sha256 prefix scopes createdAt",
    textOrNull: "expiresAt revokedAt lastUsedAt",
    key: "tokenId",
    unique: ["sha256"],
    indexes: ["businessId createdAt tokenId"],
    global: true,
  },
  permits: {
    text: "tokenId leaseId",
    textOrNull: "usedAtMs",
    integer: "granted expiresAtMs",
    key: "tokenId leaseId",
    global: true,
  },
  members: { text: "tableName member value createdAt id", key: "tableName member value createdAt id" },
  quotas: { text: "tokenId quota usedAt", key: "tokenId quota" },
  answers: {
    text: "fingerprint tokenId key body createdAt",
    integer: "status",
    key: "fingerprint",
    indexes: ["tokenId key createdAt", "createdAt"],
  },
  events: {
    text: "eventId eventType timestamp payload",
    integer: "position",
    key: "position",
    unique: ["eventId"],
  },
  audit: {
    text: "auditId action entityType actorType actorId requestId changes occurredAt kind",
    textOrNull: "entityId programId submissionId tokenId reason",
    integerOrNull: "status",
    key: "auditId",
    indexes: [
      "action occurredAt auditId",
      { columns: "programId action occurredAt auditId", where: '"programId" is not null' },
      { columns: "submissionId action occurredAt auditId", where: '"submissionId" is not null' },
      // Most entries are of requests that only read. They are listed by action only.
      ...["", "entityType ", "programId ", "submissionId "].map((filter) => ({
        columns: `${filter}occurredAt auditId`,
        where: "\"kind\" = 'change'",
      })),
    ],
  },
};

/** Member kinds whose values are unique within a tenant. */
const uniqueMembers = { persons: "ref", applicants: "email", reviewers: "email" };

export async function up(db: Db): Promise<void> {
  for (const [name, definition] of Object.entries(records)) await createTable(db, name, withCommon(definition));
  for (const [name, definition] of Object.entries(others)) await createTable(db, name, definition);
  for (const [table, member] of Object.entries(uniqueMembers)) {
    await db.schema
      .createIndex(`members_${table}_${member}`)
      .unique()
      .on("members")
      .columns(["businessId", "tableName", "member", "value"])
      .where(sql<boolean>`"tableName" = ${sql.lit(table)} and "member" = ${sql.lit(member)}`)
      .execute();
  }
}

function withCommon(definition: TableDefinition): TableDefinition {
  return {
    ...definition,
    text: `${definition.text ?? ""} ${common.text}`,
    integer: `${definition.integer ?? ""} ${common.integer}`,
  };
}

async function createTable(db: Db, name: string, definition: TableDefinition): Promise<void> {
  const tenant = definition.global ? [] : ["businessId"];
  const withTenant = (columns: string) => [...tenant, ...splitWords(columns)];
  let table = db.schema.createTable(name);
  for (const [type, nullable, names] of listColumnTypes(definition)) {
    for (const column of names) table = table.addColumn(column, type, (built) => (nullable ? built : built.notNull()));
  }
  for (const column of tenant) table = table.addColumn(column, "text", (built) => built.notNull());
  // Constraints are numbered, because some databases truncate long names.
  table = table.addPrimaryKeyConstraint(`${name}_key`, withTenant(definition.key) as never);
  for (const [index, columns] of (definition.unique ?? []).entries()) {
    table = table.addUniqueConstraint(`${name}_unique_${index + 1}`, withTenant(columns) as never);
  }
  for (const [index, [columns, target]] of Object.entries(definition.references ?? {}).entries()) {
    const key = withTenant(records[target]?.key ?? "");
    const constraint = `${name}_reference_${index + 1}`;
    // Checked at commit, so that inserts may come in any order.
    table = table.addForeignKeyConstraint(constraint, withTenant(columns) as never, target, key, (built) =>
      built.deferrable().initiallyDeferred(),
    );
  }
  await table.execute();
  for (const [index, listed] of (definition.indexes ?? []).entries()) {
    const { columns, where } = typeof listed === "string" ? { columns: listed, where: undefined } : listed;
    const created = db.schema
      .createIndex(`${name}_index_${index + 1}`)
      .on(name)
      .columns(withTenant(columns));
    await (where === undefined ? created : created.where(sql.raw<boolean>(where))).execute();
  }
}

function listColumnTypes(definition: TableDefinition) {
  const { text = "", textOrNull = "", integer = "", integerOrNull = "", realOrNull = "" } = definition;
  return [
    ["text", false, splitWords(text)],
    ["text", true, splitWords(textOrNull)],
    ["bigint", false, splitWords(integer)],
    ["bigint", true, splitWords(integerOrNull)],
    ["double precision", true, splitWords(realOrNull)],
  ] as const;
}

function splitWords(list: string): string[] {
  return list.split(" ").filter((word) => word !== "");
}
