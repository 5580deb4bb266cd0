import * as z from "zod";
import { personal } from "./definition/field-annotations.ts";
import { common, Id, Timestamp } from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";
import { pageQuery } from "./definition/page.ts";

export const Feedback = z.object({
  feedbackId: Id,
  submissionId: Id,
  programId: Id,
  roundId: Id.nullable(),
  subject: z.string().nullable(),
  body: personal(z.string()),
  released: z.boolean(),
  releasedAt: Timestamp.nullable(),
  releasedBy: z.string().nullable(),
  ...common,
});
export type Feedback = z.output<typeof Feedback>;

export const list_released_feedback = operation({
  summary: "List feedback released to applicants",
  method: "GET",
  path: "/feedback/released",
  resource: "programme://feedback/released",
  scope: "feedback:read",
  effect: "read",
  query: { programId: Id.optional(), submissionId: Id.optional(), ...pageQuery },
  data: z.array(Feedback),
  audit: "feedback.listed",
  errors: ["invalid_cursor"],
});

export const release_feedback = operation({
  summary: "Release feedback to the applicant",
  method: "POST",
  path: "/feedbacks/{feedbackId}/release",
  scope: "feedback:write",
  effect: "send",
  data: Feedback,
  changes: ["submissionId", "released", "releasedAt"],
  audit: "feedback.released",
  confirm: ({ feedbackId }) => `Release feedback ${feedbackId} to its applicant`,
  errors: ["not_found", "program_archived"],
});
