import * as z from "zod";
import { contactDetail, formAnswers, freeForm, personal } from "./definition/field-annotations.ts";
import {
  boundedText,
  common,
  DateFrom,
  DateTime,
  DateTo,
  Email,
  FreeForm,
  Id,
  OptionalReason,
  Reason,
  Timestamp,
  Version,
} from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";
import { pageQuery } from "./definition/page.ts";
import { ExternalRefInput } from "./definition/refs.ts";
import { PaymentStatus } from "./payments.ts";

export const SubmissionState = z.enum([
  "DRAFT",
  "SUBMITTED",
  "ELIGIBLE",
  "INELIGIBLE",
  "IN_REVIEW",
  "ELIMINATED",
  "FINALIST",
  "WINNER",
  "WITHDRAWN",
]);
export type SubmissionState = z.output<typeof SubmissionState>;

export const Submission = z.object({
  submissionId: Id,
  programId: Id,
  trackId: Id,
  currentRoundId: Id.nullable(),
  state: SubmissionState,
  title: personal(z.string().nullable()),
  fields: formAnswers(FreeForm),
  schemaId: Id,
  schemaVersion: z.int().min(1),
  deadline: Timestamp,
  innovatorId: freeForm(z.string()),
  innovatorEmail: contactDetail(z.string(), "email"),
  innovatorName: personal(z.string()),
  applicantPersonId: Id.nullable(),
  applicantId: Id,
  source: z.enum(["portal", "integration"]),
  eligible: z.boolean().nullable(),
  stateReason: personal(z.string().nullable()),
  previousState: SubmissionState.nullable(),
  submittedAt: Timestamp.nullable(),
  screenedAt: Timestamp.nullable(),
  withdrawnAt: Timestamp.nullable(),
  decidedAt: Timestamp.nullable(),
  paymentStatus: PaymentStatus.nullable(),
  fileIds: z.array(Id),
  ...common,
});
export type Submission = z.output<typeof Submission>;

export const list_submissions = operation({
  summary: "List submissions",
  description: "Newest first; with updatedSince, oldest change first. Dates: YYYY-MM-DD or RFC 3339.",
  method: "GET",
  path: "/submissions",
  resource: "programme://submissions",
  scope: "submissions:read",
  effect: "read",
  query: {
    programId: Id.optional(),
    trackId: Id.optional(),
    state: SubmissionState.optional(),
    roundId: Id.optional(),
    submittedFrom: DateFrom.optional(),
    submittedTo: DateTo.optional(),
    updatedSince: DateFrom.optional(),
    ...pageQuery,
  },
  data: z.array(Submission),
  audit: "submission.listed",
  errors: ["invalid_cursor"],
});

export const create_submission = operation({
  summary: "Create a draft submission",
  description:
    "Name the applicant by exactly one of personId and externalRef (needs persons:read), or by innovatorId or innovatorEmail with innovatorName. Keys of fields are the field ids of the track's schema (get_schema).",
  method: "POST",
  path: "/submissions",
  scope: "submissions:write",
  effect: "create",
  body: z.strictObject({
    trackId: Id,
    fields: personal(FreeForm),
    deadline: DateTime,
    innovatorId: freeForm(z.string().min(1).max(255)).optional(),
    innovatorEmail: Email.optional(),
    innovatorName: personal(boundedText(200, 1)).optional(),
    personId: Id.optional(),
    externalRef: ExternalRefInput.optional(),
  }),
  data: Submission,
  changes: ["programId", "schemaId", "applicantId", "applicantPersonId"],
  audit: "submission.created",
  conditionalScopes: (input) => ((input["personId"] ?? input["externalRef"]) ? ["persons:read"] : []),
  errors: ["not_found", "identity_mismatch", "person_inactive", "person_merged", "program_archived"],
});

export const get_submission = operation({
  summary: "Get a submission",
  method: "GET",
  path: "/submissions/{submissionId}",
  resource: "programme://submissions/{submissionId}",
  scope: "submissions:read",
  effect: "read",
  data: Submission,
  audit: "submission.read",
  errors: ["not_found"],
});

export const update_submission = operation({
  summary: "Edit a draft submission's fields or deadline, or set its state to DRAFT or WITHDRAWN",
  description: "Fields and deadline change only while DRAFT; the state from any state.",
  method: "PATCH",
  path: "/submissions/{submissionId}",
  scope: "submissions:write",
  effect: "update",
  body: z.strictObject({
    version: Version,
    fields: personal(FreeForm).optional(),
    deadline: DateTime.optional(),
    state: z.enum(["DRAFT", "WITHDRAWN"]).optional(),
    reason: personal(OptionalReason),
  }),
  data: Submission,
  audit: "submission.updated",
  confirm: ({ submissionId, state }) =>
    state === undefined ? undefined : `Set submission ${submissionId} to ${state}`,
  errors: ["not_found", "version_conflict", "invalid_state_transition", "program_archived"],
});

export const advance_submission = operation({
  summary: "Advance a submission into a review round",
  description:
    "From SUBMITTED (where the programme needs no screening), ELIGIBLE, IN_REVIEW or FINALIST. The round must be active, of the submission's track and later than its current one.",
  method: "POST",
  path: "/submissions/{submissionId}/advance",
  scope: "submissions:write",
  effect: "update",
  body: z.strictObject({ toRoundId: Id, reason: personal(OptionalReason), version: Version }),
  data: Submission,
  changes: ["currentRoundId"],
  audit: "submission.advanced",
  errors: ["not_found", "version_conflict", "invalid_state_transition", "round_inactive", "program_archived"],
});

export const eliminate_submission = operation({
  summary: "Eliminate a submission from consideration",
  description: "From SUBMITTED, ELIGIBLE, INELIGIBLE, IN_REVIEW or FINALIST.",
  method: "POST",
  path: "/submissions/{submissionId}/eliminate",
  scope: "submissions:write",
  effect: "destroy",
  body: z.strictObject({ reason: personal(Reason), version: Version }),
  data: Submission,
  audit: "submission.eliminated",
  confirm: ({ submissionId }) => `Eliminate submission ${submissionId}`,
  errors: ["not_found", "version_conflict", "invalid_state_transition", "program_archived"],
});

export const update_submission_fields = operation({
  summary: "Set application fields of a draft",
  description: "By field id; fields not named stay as they are, null clears one.",
  method: "PATCH",
  path: "/submissions/{submissionId}/fields",
  scope: "submissions:write",
  effect: "update",
  body: z.strictObject({ fields: personal(FreeForm), version: Version }),
  data: Submission,
  audit: "submission.fields_updated",
  errors: ["not_found", "version_conflict", "invalid_state_transition", "program_archived"],
});

export const reopen_submission = operation({
  summary: "Revert a submitted application to draft, for its applicant to edit",
  description: "From SUBMITTED, ELIGIBLE or INELIGIBLE.",
  method: "POST",
  path: "/submissions/{submissionId}/reopen",
  scope: "submissions:write",
  effect: "destroy",
  body: z.strictObject({ reason: personal(Reason), version: Version }),
  data: Submission,
  audit: "submission.reopened",
  confirm: ({ submissionId }) => `Revert submission ${submissionId} to draft`,
  errors: ["not_found", "version_conflict", "invalid_state_transition", "program_archived"],
});

export const screen_submission = operation({
  summary: "Screen a submission: mark it eligible or ineligible",
  description: "From SUBMITTED, ELIGIBLE or INELIGIBLE.",
  method: "POST",
  path: "/submissions/{submissionId}/screen",
  scope: "submissions:write",
  effect: "update",
  body: z.strictObject({ eligible: z.boolean(), reason: personal(OptionalReason), version: Version }),
  data: Submission,
  audit: "submission.screened",
  errors: ["not_found", "version_conflict", "invalid_state_transition", "program_archived"],
});

export const set_submission_state = operation({
  summary: "Mark a submission FINALIST or WINNER, from any state",
  method: "POST",
  path: "/submissions/{submissionId}/state",
  scope: "submissions:write",
  effect: "update",
  body: z.strictObject({ state: z.enum(["FINALIST", "WINNER"]), reason: personal(OptionalReason), version: Version }),
  data: Submission,
  audit: "submission.state_set",
  confirm: ({ submissionId, state }) => `Declare submission ${submissionId} ${state}`,
  errors: ["not_found", "version_conflict", "program_archived"],
});

export const submit_submission = operation({
  summary: "Submit a draft submission",
  description:
    "Needs an open intake, a deadline not passed, required fields and supplements, and the fee paid or waived.",
  method: "POST",
  path: "/submissions/{submissionId}/submit",
  scope: "submissions:write",
  effect: "update",
  body: z.strictObject({
    version: Version,
    acknowledgeSupplementWarnings: z.boolean().describe("submit without required supplements").optional(),
  }),
  data: Submission,
  changes: ["submittedAt"],
  audit: "submission.submitted",
  errors: [
    "not_found",
    "version_conflict",
    "invalid_state_transition",
    "intake_closed",
    "deadline_passed",
    "incomplete_application",
    "supplement_warnings",
    "program_archived",
  ],
});

export const withdraw_submission = operation({
  summary: "Withdraw a submission, from any state",
  method: "POST",
  path: "/submissions/{submissionId}/withdraw",
  scope: "submissions:write",
  effect: "destroy",
  body: z.strictObject({ reason: personal(Reason), version: Version }),
  data: Submission,
  audit: "submission.withdrawn",
  confirm: ({ submissionId }) => `Withdraw submission ${submissionId}`,
  errors: ["not_found", "version_conflict", "invalid_state_transition", "program_archived"],
});
