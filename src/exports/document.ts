import * as z from "zod";
import { Assignment } from "../contract/assignments.ts";
import { personal } from "../contract/definition/field-annotations.ts";
import { Id, Timestamp } from "../contract/definition/fields.ts";
import { Applicant, PersonExpansion } from "../contract/persons.ts";
import { Reviewer } from "../contract/reviewers.ts";
import { Review } from "../contract/reviews.ts";
import { Submission } from "../contract/submissions.ts";

/** The row schema of each section of an export (specification 2.7), in file order. */
export const sections = {
  applicants: Applicant.pick({ applicantId: true, name: true, email: true }),
  reviewers: Reviewer.pick({ reviewerId: true, email: true }).extend({ name: personal(z.string().nullable()) }),
  submissions: Submission,
  reviews: Review,
  conflictAttestations: Assignment.pick({
    assignmentId: true,
    trackId: true,
    roundId: true,
    submissionId: true,
    reviewerId: true,
  }).extend({ hasConflict: z.boolean(), statement: personal(z.string()), attestedAt: Timestamp }),
  /** Present on request: the person records of applicants and reviewers. */
  persons: PersonExpansion.extend({ applicantIds: z.array(Id), reviewerIds: z.array(Id) }),
};

export type SectionName = keyof typeof sections;
export type SectionRow<Name extends SectionName> = z.output<(typeof sections)[Name]>;
