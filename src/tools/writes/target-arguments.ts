import * as z from "zod";
import { Id } from "../../contract/definition/fields.ts";
import { ApplicantMailing, ReviewerMailing } from "../../contract/emails.ts";
import { type CallName, operations } from "../../contract/index.ts";
import { SubmissionState } from "../../contract/submissions.ts";

/** A query that selects the records of a write in place of a list. */
export const Target = z
  .strictObject({ trackId: Id.optional(), roundId: Id.optional(), state: SubmissionState.optional() })
  .describe("selects all that match, instead of a list");
export type Target = z.output<typeof Target>;

/** Arguments of tools with a target that have another form than those of their operations: the list is optional. */
const bodyShapes: Partial<Record<CallName, Readonly<Record<string, z.ZodType>>>> = {
  send_bulk_email: {
    reviewers: ReviewerMailing.partial({ reviewerIds: true }).optional(),
    applicants: ApplicantMailing.partial({ applicantEmails: true }).optional(),
  },
  bulk_assign_reviewers: {},
};

/** Returns whether a tool accepts a target. */
export function hasTarget(name: CallName): boolean {
  return Object.hasOwn(bodyShapes, name);
}

/** Returns the shape of a tool's body. */
export function getBodyShape(name: CallName): Readonly<Record<string, z.ZodType>> {
  return { ...operations[name].body?.shape, ...bodyShapes[name] };
}
