import * as z from "zod";
import { limits } from "./access/limits.ts";
import { formAnswers, freeForm, personal } from "./definition/field-annotations.ts";
import { common, FreeForm, Id, Timestamp, Version } from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";

export const SupplementStatus = z.enum(["not_started", "draft", "submitted", "closed"]);
export type SupplementStatus = z.output<typeof SupplementStatus>;

export const SupplementResponse = z.object({
  supplementResponseId: Id,
  submissionId: Id,
  supplementRequestId: Id,
  title: z.string(),
  required: z.boolean(),
  audience: z.enum(["applicant", "contributor"]),
  contributorId: freeForm(z.string()).nullable(),
  contributorIndex: z.int().min(0).max(9).nullable(),
  schemaId: Id,
  fields: formAnswers(FreeForm),
  fileIds: z.array(Id),
  status: SupplementStatus,
  dueAt: Timestamp.nullable(),
  submittedAt: Timestamp.nullable(),
  closedAt: Timestamp.nullable(),
  reopenedAt: Timestamp.nullable(),
  ...common,
});
export type SupplementResponse = z.output<typeof SupplementResponse>;

export const list_submission_supplements = operation({
  summary: "List a submission's supplement responses",
  method: "GET",
  path: "/submissions/{submissionId}/supplements",
  resource: "programme://submissions/{submissionId}/supplements",
  scope: "supplements:read",
  effect: "read",
  data: z.array(SupplementResponse),
  maxRows: limits.listedSupplements,
  audit: "supplement.listed",
  errors: ["not_found"],
});

export const update_supplement = operation({
  summary: "Update a supplement response's content or status",
  description: "The content of a closed one changes only together with its status.",
  method: "PATCH",
  path: "/submissions/{submissionId}/supplements/{supplementResponseId}",
  scope: "supplements:write",
  effect: "update",
  body: z.strictObject({
    version: Version,
    fields: personal(FreeForm).optional(),
    fileIds: z.array(Id).max(limits.attachedFiles).optional(),
    status: SupplementStatus.optional(),
    contributorId: freeForm(z.string().min(1).max(255)).optional(),
    contributorIndex: z.int().min(0).max(9).describe("position among contributors").optional(),
  }),
  data: SupplementResponse,
  audit: "supplement.updated",
  errors: ["not_found", "version_conflict", "invalid_state_transition", "program_archived"],
});

const versionOnly = z.strictObject({ version: Version });

export const close_supplement = operation({
  summary: "Close a supplement response",
  method: "POST",
  path: "/submissions/{submissionId}/supplements/{supplementResponseId}/close",
  scope: "supplements:write",
  effect: "update",
  body: versionOnly,
  data: SupplementResponse,
  audit: "supplement.closed",
  errors: ["not_found", "version_conflict", "invalid_state_transition", "program_archived"],
});

export const reopen_supplement = operation({
  summary: "Reopen a closed supplement response",
  method: "POST",
  path: "/submissions/{submissionId}/supplements/{supplementResponseId}/reopen",
  scope: "supplements:write",
  effect: "update",
  body: versionOnly,
  data: SupplementResponse,
  audit: "supplement.reopened",
  errors: ["not_found", "version_conflict", "invalid_state_transition", "program_archived"],
});
