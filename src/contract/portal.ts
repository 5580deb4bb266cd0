import * as z from "zod";
import { Assignment } from "./assignments.ts";
import { boundedText, DateTime, Email, FreeForm, Id } from "./definition/fields.ts";
import type { AuditAction } from "./definition/record-kinds.ts";
import { Feedback } from "./feedback.ts";
import { File } from "./files.ts";
import { Payment } from "./payments.ts";
import { Review } from "./reviews.ts";
import { Submission } from "./submissions.ts";
import { SupplementResponse } from "./supplements.ts";

interface Declaration<Input extends z.ZodObject, Data extends z.ZodType> {
  /** Describes the action in one line. */
  readonly summary: string;
  readonly input: Input;
  readonly data: Data;
  readonly audit: (input: z.output<Input>) => AuditAction;
}

function portalAction<Input extends z.ZodObject, Data extends z.ZodType>(
  declaration: Declaration<Input, Data>,
): Declaration<Input, Data> {
  return declaration;
}

const oneLineText = (max: number) => boundedText(max, 1).regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, "Expected one line");

/** Actions of applicants, reviewers and staff in the product itself, which need no token. */
const portalActions = {
  register_applicant: portalAction({
    summary: "Register an applicant on a track",
    input: z.strictObject({ trackId: Id, email: Email, name: boundedText(200, 1) }),
    data: z.object({ applicantId: Id, personId: Id.nullable(), trackId: Id, registered: z.boolean() }),
    audit: () => "applicant.registered",
  }),

  save_draft: portalAction({
    summary: "Begin a submission as a registered applicant, or save its draft again",
    input: z.strictObject({
      trackId: Id.optional().describe("For a new draft"),
      applicantId: Id.optional().describe("For a new draft"),
      submissionId: Id.optional().describe("An existing draft"),
      fields: FreeForm.optional(),
      deadline: DateTime.optional().describe("Default: when the track's intake closes"),
    }),
    data: Submission,
    audit: ({ submissionId }) => (submissionId === undefined ? "submission.created" : "submission.fields_updated"),
  }),

  attach_file: portalAction({
    summary: "Attach a file to a draft or to a supplement response",
    input: z.strictObject({
      submissionId: Id.optional(),
      supplementResponseId: Id.optional(),
      fieldId: Id.optional().describe("The field of type file that the file belongs to"),
      fileName: oneLineText(255).refine((name) => !/[/\\]/.test(name), "Expected a name without folders"),
      contentType: oneLineText(200),
      sizeBytes: z.int().min(0),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      scanStatus: File.shape.scanStatus.default("clean"),
    }),
    data: File,
    audit: () => "file.uploaded",
  }),

  request_supplement: portalAction({
    summary: "Ask the applicant of a submission for a supplement",
    input: z.strictObject({
      submissionId: Id,
      title: boundedText(200, 1),
      schemaId: Id,
      required: z.boolean().default(true),
      audience: SupplementResponse.shape.audience.default("applicant"),
      dueAt: DateTime.optional(),
      supplementRequestId: Id.optional().describe("Shared by requests to several submissions"),
    }),
    data: SupplementResponse,
    audit: () => "supplement.requested",
  }),

  submit_supplement: portalAction({
    summary: "Submit a supplement response",
    input: z.strictObject({
      supplementResponseId: Id,
      fields: FreeForm.optional(),
      fileIds: z.array(Id).max(100).optional(),
    }),
    data: SupplementResponse,
    audit: () => "supplement.submitted",
  }),

  record_payment: portalAction({
    summary: "Record the outcome of a submission's entry fee",
    input: z.strictObject({
      submissionId: Id,
      outcome: z
        .enum(["paid", "offline", "failed", "waived", "refunded"])
        .describe("paid: by card; offline: confirmed by staff; refunded: paid back"),
      provider: oneLineText(100).optional(),
      providerRef: oneLineText(255).optional(),
      failureCode: oneLineText(64).optional(),
    }),
    data: Payment,
    audit: ({ outcome }) => `payment.${outcome === "paid" || outcome === "offline" ? "succeeded" : outcome}`,
  }),

  accept_invitation: portalAction({
    summary: "Accept an invitation to review",
    input: z.strictObject({ invitationId: Id }),
    data: z.object({ reviewerId: Id }),
    audit: () => "reviewer.accepted",
  }),

  respond_to_assignment: portalAction({
    summary: "Accept or decline a review assignment as its reviewer",
    input: z.strictObject({
      assignmentId: Id,
      response: z.enum(["accept", "decline"]),
      reason: boundedText(1000).optional(),
    }),
    data: Assignment,
    audit: ({ response }) => (response === "accept" ? "assignment.accepted" : "assignment.declined"),
  }),

  attest_conflict: portalAction({
    summary: "State as a reviewer whether there is a conflict of interest",
    input: z.strictObject({ assignmentId: Id, hasConflict: z.boolean(), statement: boundedText(4000, 1) }),
    data: Assignment,
    audit: ({ hasConflict }) => (hasConflict ? "assignment.conflict_declared" : "assignment.conflict_denied"),
  }),

  submit_review: portalAction({
    summary: "Submit a review, or save it as a draft",
    input: z.strictObject({
      assignmentId: Id,
      scores: z
        .array(
          z.strictObject({
            criterionId: Id,
            value: z.union([z.number(), boundedText(10_000), z.boolean()]),
            comment: boundedText(10_000).nullable().default(null),
          }),
        )
        .max(200),
      recommendation: Review.shape.recommendation.default("none"),
      overallComment: boundedText(20_000).optional(),
      confidentialComment: boundedText(20_000).optional(),
      draft: z.boolean().default(false).describe("Save it without submitting"),
    }),
    data: Review,
    audit: ({ draft }) => (draft ? "review.saved" : "review.submitted"),
  }),

  prepare_feedback: portalAction({
    summary: "Prepare feedback on a submission for a later release",
    input: z.strictObject({
      submissionId: Id,
      roundId: Id.optional(),
      subject: oneLineText(500).optional(),
      body: boundedText(50_000, 1),
    }),
    data: Feedback,
    audit: () => "feedback.prepared",
  }),
} as const;

type PortalActionCatalog = typeof portalActions;
export type PortalActionName = keyof PortalActionCatalog;
/** Arguments of an action, before validation. */
export type PortalActionArguments<Name extends PortalActionName> = z.input<PortalActionCatalog[Name]["input"]>;
/** Arguments of an action after validation, with defaults. */
export type PortalActionInput<Name extends PortalActionName> = z.output<PortalActionCatalog[Name]["input"]>;
export type PortalActionResult<Name extends PortalActionName> = z.output<PortalActionCatalog[Name]["data"]>;

/** The actions without their literal types. */
export const portalActionDeclarations = portalActions as unknown as Readonly<
  Record<PortalActionName, Declaration<z.ZodObject, z.ZodType>>
>;
