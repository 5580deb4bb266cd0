import * as z from "zod";
import { limits } from "./access/limits.ts";
import { contactDetail, personal } from "./definition/field-annotations.ts";
import { boundedText, common, Email, Id, PersonFieldIds, Timestamp } from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";
import { pageQuery } from "./definition/page.ts";
import { PersonExpansion, requireExpansionScopes } from "./persons.ts";

export const ReviewerStatus = z.enum(["invited", "active", "declined", "inactive"]);
export type ReviewerStatus = z.output<typeof ReviewerStatus>;

export const Reviewer = z.object({
  reviewerId: Id,
  email: contactDetail(z.string(), "email"),
  firstName: personal(z.string().nullable()),
  lastName: personal(z.string().nullable()),
  affiliation: personal(z.string().nullable()),
  expertise: z.array(z.string()),
  role: z.enum(["reviewer", "lead_reviewer"]),
  status: ReviewerStatus,
  programIds: z.array(Id),
  roundIds: z.array(Id),
  personId: Id.nullable(),
  maxAssignments: z.int().min(0).nullable(),
  invitedAt: Timestamp,
  acceptedAt: Timestamp.nullable(),
  assignmentCounts: z.object({ assigned: z.int().min(0), completed: z.int().min(0) }),
  person: PersonExpansion.optional(),
  ...common,
});
export type Reviewer = z.output<typeof Reviewer>;

export const list_reviewers = operation({
  summary: "List reviewers",
  description: "search matches name, e-mail and affiliation.",
  method: "GET",
  path: "/reviewers",
  resource: "programme://reviewers",
  scope: "reviewers:read",
  effect: "read",
  query: {
    programId: Id.optional(),
    roundId: Id.optional(),
    status: ReviewerStatus.optional(),
    search: contactDetail(boundedText(200, 1), "email").optional(),
    includePersonFieldIds: PersonFieldIds.optional(),
    ...pageQuery,
  },
  data: z.array(Reviewer),
  audit: "reviewer.listed",
  conditionalScopes: requireExpansionScopes,
  errors: ["invalid_cursor"],
});

export const get_reviewer = operation({
  summary: "Get a reviewer",
  method: "GET",
  path: "/reviewers/{reviewerId}",
  resource: "programme://reviewers/{reviewerId}",
  scope: "reviewers:read",
  effect: "read",
  query: { includePersonFieldIds: PersonFieldIds.optional() },
  data: Reviewer,
  audit: "reviewer.read",
  conditionalScopes: requireExpansionScopes,
  errors: ["not_found"],
});

export const invite_reviewer = operation({
  summary: "Invite a reviewer by e-mail",
  description:
    "Creates a membership and a magic link. Inviting an address again adds rounds to the same reviewer. programName and message go into the e-mail; suppressEmails sends none.",
  method: "POST",
  path: "/reviewers/invite",
  scope: "reviewers:write",
  effect: "send",
  body: z.strictObject({
    email: Email,
    firstName: personal(boundedText(100, 1)).optional(),
    lastName: personal(boundedText(100, 1)).optional(),
    affiliation: personal(boundedText(200)).optional(),
    expertise: z.array(boundedText(50)).max(limits.expertise).optional(),
    roundIds: z.array(Id).max(100).optional(),
    programName: boundedText(200).optional(),
    message: personal(boundedText(1000)).optional(),
    role: z.enum(["reviewer", "lead_reviewer"]).optional(),
    suppressEmails: z.boolean().optional(),
  }),
  data: Reviewer,
  changes: ["programIds", "invitedAt"],
  audit: "reviewer.invited",
  confirm: () => "Invite a reviewer",
  errors: ["not_found", "program_archived"],
});
