import * as z from "zod";
import { contactDetail, personal } from "../definition/field-annotations.ts";
import { Id, Timestamp } from "../definition/fields.ts";
import { gaps, maxWorkflowRows, workflow } from "../definition/workflow.ts";
import { Person } from "../persons.ts";

/** Why persons look like one, the strongest reason first. */
export const DuplicateReason = z.enum([
  "same_external_id",
  "same_platform_user",
  "same_email",
  "same_name_and_organization",
  "similar_name_and_phone",
  "similar_name_and_organization",
]);
export type DuplicateReason = z.output<typeof DuplicateReason>;

const fieldNames = z.array(z.string());

export const DuplicatePersons = z.object({
  /** Those with the strongest reason first, then the largest. */
  groups: z.array(
    z.object({
      reasons: z.array(DuplicateReason),
      personCount: z.int().min(2),
      /** The person that should survive comes first: the one with most data, then the oldest. */
      persons: z.array(
        z.object({
          personId: Id,
          version: z.int().min(0),
          name: personal(z.string().nullable()),
          organization: personal(z.string().nullable()),
          email: contactDetail(z.string().nullable(), "email"),
          kinds: Person.shape.kinds,
          createdAt: Timestamp,
        }),
      ),
      /** Fields whose values differ. */
      differences: fieldNames,
      /** The effect of merging each of the others into the first person. */
      merges: z.array(
        z.object({
          sourcePersonId: Id,
          /** Fields that the first person would get. */
          adds: fieldNames,
          /** Fields of the source whose values would be lost. */
          loses: fieldNames,
          /** Why `merge_person` would refuse it; then nothing is added or lost. */
          refused: z.string().optional(),
        }),
      ),
    }),
  ),
  ...gaps,
});
export type DuplicatePersons = z.output<typeof DuplicatePersons>;

export const find_duplicate_persons = workflow({
  summary: "Find persons that look like one",
  description: "By e-mail, external id, name with organisation or phone; says what merge_person would add and lose.",
  path: "/persons/duplicates",
  scope: "persons:read",
  reads: ["list_persons", "get_person"],
  query: { limit: z.int().min(1).max(maxWorkflowRows).default(20) },
  data: DuplicatePersons,
  audit: "person.duplicates_read",
  scans: true,
});
