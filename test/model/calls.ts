import fc from "fast-check";
import { assignmentHandlers } from "./assignments.ts";
import { auditHandlers } from "./dated-lists/audit-lists.ts";
import { emailHandlers } from "./emails.ts";
import { exportHandlers } from "./exports.ts";
import { feedbackHandlers } from "./feedback.ts";
import { listHandlers } from "./lists.ts";
import { attachmentHandlers, isReadOperation, type ModelOperation } from "./model.ts";
import { personHandlers } from "./persons.ts";
import { programHandlers } from "./programs.ts";
import { createAttachmentInput } from "./requests/attachments.ts";
import { createAuditInput } from "./requests/audit.ts";
import { type Call, type NamedSubmission, pages } from "./requests/call.ts";
import { createEmailInput } from "./requests/emails.ts";
import { createExportInput } from "./requests/exports.ts";
import { createListRequest } from "./requests/lists.ts";
import { createPersonInput } from "./requests/persons.ts";
import { createProgramInput } from "./requests/programs.ts";
import { createReviewInput } from "./requests/reviews.ts";
import { createSubmissionInput } from "./requests/submissions.ts";
import { reviewerHandlers } from "./reviewers.ts";
import { reviewHandlers } from "./reviews/reviews.ts";
import { submissionHandlers } from "./submissions.ts";
import type { ModelRequest, ModelTenant } from "./tenant.ts";

/** Frequent operations come several times. */
const names: readonly ModelOperation[] = [
  ...Array<ModelOperation>(4).fill("create_submission"),
  ...Array<ModelOperation>(4).fill("submit_submission"),
  ...Array<ModelOperation>(3).fill("advance_submission"),
  ...Array<ModelOperation>(3).fill("bulk_assign_reviewers"),
  ...Array<ModelOperation>(2).fill("screen_submission"),
  "update_submission_fields",
  "update_submission",
  "reopen_submission",
  "eliminate_submission",
  "set_submission_state",
  "withdraw_submission",
  "delete_assignment",
  "update_supplement",
  "close_supplement",
  "reopen_supplement",
  "update_program",
  "update_track",
  "get_submission",
  ...Array<ModelOperation>(4).fill("create_person"),
  ...Array<ModelOperation>(5).fill("merge_person"),
  ...Array<ModelOperation>(2).fill("add_person_external_ref"),
  "remove_person_external_ref",
  "update_person",
  "get_person",
  "resolve_persons",
  ...Array<ModelOperation>(2).fill("reassign_assignment"),
  ...Array<ModelOperation>(2).fill("list_assignments"),
  ...Array<ModelOperation>(2).fill("auto_assign_reviewers"),
  ...Array<ModelOperation>(3).fill("invite_reviewer"),
  "get_reviewer",
  "list_reviewers",
  "get_review",
  ...Array<ModelOperation>(2).fill("list_reviews"),
  ...Array<ModelOperation>(3).fill("get_submission_reviews_summary"),
  "get_person_schema",
  ...Array<ModelOperation>(3).fill("send_bulk_email"),
  "list_email_sends",
  "get_submission_payment",
  "list_payments",
  "list_submission_files",
  "get_file_download_url",
  "get_schema",
  "get_rubric",
  "update_round",
  "list_rounds",
  ...Array<ModelOperation>(2).fill("release_feedback"),
  "list_released_feedback",
  ...Array<ModelOperation>(3).fill("list_submissions"),
  "list_submission_supplements",
  ...Array<ModelOperation>(2).fill("list_persons"),
  ...Array<ModelOperation>(3).fill("list_applicants"),
  ...Array<ModelOperation>(6).fill("list_audit_entries"),
  ...Array<ModelOperation>(3).fill("get_audit_entry"),
  "get_program",
  "list_programs",
  "list_tracks",
  ...Array<ModelOperation>(2).fill("create_export"),
  ...Array<ModelOperation>(2).fill("get_export"),
];

/** Calls of several clients. Those of one group are sent at once. */
export const callGroups: fc.Arbitrary<Call[][]> = fc.array(
  fc.array(
    fc.record<Call>({
      tenant: fc.nat(1),
      token: fc.oneof({ weight: 9, arbitrary: fc.nat(1) }, { weight: 1, arbitrary: fc.constant(2) }),
      process: fc.nat(1),
      key: fc.option(fc.nat(3), { nil: undefined }),
      name: fc.constantFrom(...names),
      target: fc.nat(3),
      versionOffset: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(-1) }),
      isForeign: fc.integer({ min: 0, max: 19 }).map((value) => value === 0),
      choice: fc.nat(5),
      page: fc.constantFrom(...pages),
    }),
    { minLength: 1, maxLength: 3, size: "max" },
  ),
  { minLength: 1, maxLength: 30, size: "max" },
);

/** Returns the request of a call, with the ids and versions that the client has seen. */
export function createRequest(call: Call, tenants: readonly ModelTenant[]): ModelRequest {
  const { token, key } = call;
  const own = tenants[call.tenant] as ModelTenant;
  const named = (call.isForeign ? tenants[1 - call.tenant] : own) as ModelTenant;
  const submissions = named.submissions.slice(-4);
  const submission = submissions[call.target % submissions.length];
  const submissionId = submission?.submissionId ?? "sub_unknown";
  const version = Math.max(0, (submission?.version ?? 0) + call.versionOffset);
  const record = { submissionId, version };
  const { name, input } = isOneOf(listHandlers, call.name)
    ? createListRequest({ ...call, name: call.name }, submissionId, own, named)
    : { name: call.name, input: createAnyInput(call, record, own, named) };
  const keyOfToken = key === undefined ? undefined : `${token} ${key}`;
  const isGranted = isReadOperation(name) ? !withheldReads[token]?.includes(name) : token < 2;
  const caller = { token, mayReadSensitive: token === 0, mayReadPersons: token < 2 };
  return { name, input, key: keyOfToken, isGranted, caller };
}

/** Reads for which a token has no scope. */
const withheldReads: Readonly<Record<number, readonly ModelOperation[]>> = {
  1: ["list_released_feedback", "get_person_schema", "list_audit_entries", "get_audit_entry"],
  2: ["list_persons", "get_person", "resolve_persons", "list_reviews", "get_review", "get_submission_reviews_summary"],
};

function createAnyInput(call: Call, record: NamedSubmission, own: ModelTenant, named: ModelTenant) {
  const { name } = call;
  const { fixed } = own;
  if (isOneOf(personHandlers, name)) return createPersonInput({ ...call, name }, named);
  if (isOneOf(programHandlers, name)) return createProgramInput({ ...call, name }, fixed, named);
  if (isOneOf(reviewingHandlers, name)) return createReviewInput({ ...call, name }, record.submissionId, own, named);
  if (isOneOf(emailHandlers, name)) return createEmailInput({ ...call, name }, own, named);
  if (isOneOf(attachmentHandlers, name)) return createAttachmentInput({ ...call, name }, record.submissionId, named);
  if (isOneOf(auditHandlers, name)) return createAuditInput({ ...call, name }, named);
  if (isOneOf(exportHandlers, name)) return createExportInput({ ...call, name }, named);
  if (isOneOf(submissionHandlers, name)) return createSubmissionInput({ ...call, name }, record, fixed, named);
  throw new Error(`No requests of ${name}`);
}

const reviewingHandlers = { ...reviewHandlers, ...assignmentHandlers, ...reviewerHandlers, ...feedbackHandlers };

function isOneOf<Handlers extends object>(
  handlers: Handlers,
  name: ModelOperation,
): name is keyof Handlers & ModelOperation {
  return Object.hasOwn(handlers, name);
}
