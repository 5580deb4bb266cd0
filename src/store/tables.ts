import * as z from "zod";
import { Approval } from "../contract/access/approvals.ts";
import { privacyModes } from "../contract/access/privacy.ts";
import { scopes } from "../contract/access/scopes.ts";
import { Assignment } from "../contract/assignments.ts";
import { personal } from "../contract/definition/field-annotations.ts";
import { common, Id, Timestamp } from "../contract/definition/fields.ts";
import type { EntityType } from "../contract/definition/record-kinds.ts";
import { EmailSend, Suppression } from "../contract/emails.ts";
import { ExportJob } from "../contract/exports.ts";
import { Feedback } from "../contract/feedback.ts";
import { File } from "../contract/files.ts";
import { Payment } from "../contract/payments.ts";
import { Applicant, Person, PersonSchema } from "../contract/persons.ts";
import { Program, Round, Track } from "../contract/programs.ts";
import { Reviewer } from "../contract/reviewers.ts";
import { Review } from "../contract/reviews.ts";
import { Rubric, Schema } from "../contract/schemas.ts";
import { Submission } from "../contract/submissions.ts";
import { SupplementResponse } from "../contract/supplements.ts";
import { WebhookEndpoint } from "../contract/webhooks.ts";

/** Values besides its columns by which a row can be found: array items, lower-cased email addresses. */
type Members<Row> = Readonly<Record<string, (row: Row) => readonly string[]>>;

export interface Table<Record_ extends z.ZodObject = z.ZodObject> {
  /** The entity's name in audit entries. */
  readonly entity: string;
  /** Schema of all columns. */
  readonly record: Record_;
  /** The column that identifies a row within its tenant. */
  readonly id: keyof z.output<Record_> & string;
  readonly members: Members<z.output<Record_>>;
  /** The column that distinguishes published versions of one id. A read by id returns the highest. */
  readonly revision?: keyof z.output<Record_> & string;
}

function defineTable<Record_ extends z.ZodObject>(
  entity: EntityType,
  record: Record_,
  id: keyof z.output<Record_> & string,
  members: Members<z.output<Record_>> = {},
  revision?: keyof z.output<Record_> & string,
): Table<Record_> {
  return { entity, record, id, members, ...(revision === undefined ? {} : { revision }) };
}

/** Lower-cases an email address for comparison. */
export function normalizeEmail(email: string): string {
  return email.toLowerCase();
}

/** Serializes all three parts of an external reference for exact comparison. */
export function toRefKey(ref: { namespace: string; objectType: string; externalId?: string | undefined }): string {
  return JSON.stringify([ref.namespace, ref.objectType, ref.externalId]);
}

const Invitation = z.object({
  invitationId: Id,
  reviewerId: Id,
  /** SHA-256 of the secret in the magic link. */
  sha256: personal(z.string()),
  expiresAt: Timestamp,
  usedAt: Timestamp.nullable(),
  ...common,
});

/** The tables of records. Their columns are the fields of the records. Nested values are stored as JSON. */
export const tables = {
  programs: defineTable("program", Program, "programId"),
  tracks: defineTable("track", Track, "trackId"),
  rounds: defineTable("round", Round, "roundId"),
  schemas: defineTable("schema", Schema, "schemaId", {}, "schemaVersion"),
  rubrics: defineTable("rubric", Rubric, "rubricId", {}, "rubricVersion"),
  submissions: defineTable("submission", Submission, "submissionId"),
  supplements: defineTable("supplement", SupplementResponse, "supplementResponseId"),
  files: defineTable("file", File, "fileId"),
  payments: defineTable("payment", Payment, "paymentId"),
  persons: defineTable("person", Person, "personId", {
    email: (row) => (row.primaryEmail && row.active ? [normalizeEmail(row.primaryEmail)] : []),
    ref: (row) => row.externalRefs.map(toRefKey),
  }),
  personSchemas: defineTable("person_schema", PersonSchema.extend({ personSchemaId: Id }), "personSchemaId"),
  applicants: defineTable(
    "applicant",
    Applicant.omit({ submissionCount: true, person: true }).extend({ personId: Id.nullable() }),
    "applicantId",
    {
      email: (row) => [normalizeEmail(row.email)],
      programIds: (row) => row.programIds,
      trackIds: (row) => row.trackIds,
    },
  ),
  reviewers: defineTable("reviewer", Reviewer.omit({ assignmentCounts: true, person: true }), "reviewerId", {
    email: (row) => [normalizeEmail(row.email)],
    programIds: (row) => row.programIds,
    roundIds: (row) => row.roundIds,
  }),
  invitations: defineTable("invitation", Invitation, "invitationId"),
  assignments: defineTable("assignment", Assignment, "assignmentId"),
  reviews: defineTable("review", Review, "reviewId"),
  feedbacks: defineTable("feedback", Feedback, "feedbackId"),
  emailSends: defineTable("email_send", EmailSend.extend({ body: personal(z.string()) }), "emailSendId", {
    recipient: (row) => [normalizeEmail(row.recipientEmail)],
  }),
  suppressions: defineTable("suppression", Suppression, "suppressionId", {
    email: (row) => [normalizeEmail(row.email)],
  }),
  exports: defineTable(
    "export",
    ExportJob.omit({ downloadUrl: true, downloadExpiresAt: true, warnings: true }).extend({
      privacy: z.enum(privacyModes).nullable(),
      tokenId: Id.nullable(),
      scopes: z.array(z.enum(scopes)),
    }),
    "exportId",
  ),
  webhookEndpoints: defineTable(
    "webhook_endpoint",
    WebhookEndpoint.extend({
      /**
       * Only events after this position are delivered. Earlier ones happened before the endpoint existed or while it
       * was disabled.
       */
      afterPosition: z.int().min(0),
      /** Nothing is sent before this time, as the endpoint requested. */
      pausedUntil: Timestamp.nullable(),
    }),
    "endpointId",
  ),
  approvals: defineTable("approval", Approval, "approvalId"),
};

export type TableName = keyof typeof tables;
export type Row<T extends TableName> = z.output<(typeof tables)[T]["record"]>;
type Common = keyof typeof common;

/** A row to insert. The store adds tenant, version, times and actors. */
export type NewRow<T extends TableName> = Omit<Row<T>, Common>;
/** Changes to a row. `undefined` leaves a value, null clears it. */
export type Patch<T extends TableName> = {
  readonly [K in keyof NewRow<T>]?: NewRow<T>[K] | undefined | (undefined extends NewRow<T>[K] ? null : never);
};
